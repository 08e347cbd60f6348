import { twoDecimals, whole } from "../format-number.ts"
import { formatTable } from "../format-table.ts"
import { PYTHON_VARIABLE } from "../autogen-python.ts"
import type { AutogenRates } from "./autogen.ts"
import { GROWTH_ROUNDS, type GrowthPoint, type VisitingOrder, growthRatios } from "./growth.ts"
import type { Throughput } from "./throughput.ts"
import { CONCURRENCY, SUBSCRIBERS, type Workload } from "./workload.ts"

export function throughputReport(
  { serial, concurrent, publish }: Record<Workload, Throughput>,
  autogen: AutogenRates | undefined,
): string {
  const comparison = autogen ? [`AutoGen ${autogen.version}`, "ours/AutoGen"] : []
  const table = formatTable(
    ["a second, medians of rounds", "ours", "bare mailbox", "ours/bare", "bare alone", ...comparison],
    [
      throughputRow("serial request/reply", serial, autogen?.serialPerSecond),
      throughputRow(`${CONCURRENCY} concurrent request/reply`, concurrent, autogen?.concurrentPerSecond),
      throughputRow(`deliveries to ${SUBSCRIBERS} subscribers`, publish, autogen?.deliveriesPerSecond),
    ],
  )
  const notes = ["Bare alone: before the runtime, whose AsyncLocalStorage slows down every later promise."]
  if (!autogen) notes.push(`AutoGen is not compared: ${PYTHON_VARIABLE} names no Python.`)
  return [table, ...notes].join("\n")
}

export function growthReport(points: readonly GrowthPoint[], order: VisitingOrder): string {
  const { growth100kAgents, baselineGrowth100kAgents } = growthRatios(points)
  const table = formatTable(
    ["agents", "ours, median", "minimum", "bare mailbox, median", "minimum"],
    points.map((point) =>
      [point.agents, point.medianNs, point.minimumNs, point.baselineMedianNs, point.baselineMinimumNs].map(
        whole,
      ),
    ),
  )
  return [
    `\nNanoseconds a serial message costs as agents grow, visited ${order}, of ${GROWTH_ROUNDS} interleaved rounds:`,
    table,
    `Growth by medians: ours ${twoDecimals(growth100kAgents)}; bare mailboxes, where only the ` +
      `caches of the CPU and the collector can tell: ${twoDecimals(baselineGrowth100kAgents)}.`,
  ].join("\n")
}

function throughputRow(name: string, rates: Throughput, autogen: number | undefined): string[] {
  const { ours, baseline, baselineAlone } = rates
  const row = [name, whole(ours), whole(baseline), twoDecimals(ours / baseline), whole(baselineAlone)]
  return autogen === undefined ? row : [...row, whole(autogen), twoDecimals(ours / autogen)]
}
