import { cpus } from "node:os"
import type { JsonObject } from "glovebox/core"
import { formatTable } from "../format-table.ts"
import { type AutogenRates, PYTHON_VARIABLE, findAutogenPython, measureAutogen } from "./autogen.ts"
import { GROWTH_ROUNDS, type GrowthPoint, measureGrowth } from "./growth.ts"
import { IDLE_AGENTS, measureIdleAgentBytes } from "./idle-agent-memory.ts"
import {
  CONCURRENCY,
  SUBSCRIBERS,
  type Throughput,
  measureConcurrent,
  measurePublish,
  measureSerial,
} from "./throughput.ts"

interface Rates {
  readonly serial: Throughput
  readonly concurrent: Throughput
  readonly publish: Throughput
}

/** How fast the in-process runtime is, what an agent costs, and whether cost grows with agents. */
export async function coreBench(print: (line: string) => void): Promise<JsonObject> {
  const python = await findAutogenPython()
  print(`Node ${process.version}, ${cpus()[0]?.model ?? "unknown CPU"}.`)
  print("Tracing is off: no OpenTelemetry SDK is installed, which is the default.")
  print("Handlers are async, and messages are made beforehand: schema checks are not measured.\n")

  const rates: Rates = {
    serial: await measureSerial(),
    concurrent: await measureConcurrent(),
    publish: await measurePublish(),
  }
  const autogen = python === undefined ? undefined : await measureAutogen(python)
  printRates(print, rates, autogen)
  const growth = await measureGrowth()
  printGrowth(print, growth)
  const bytesPerIdleAgent = Math.round(await measureIdleAgentBytes())
  print(`\nMemory of an idle agent: ${bytesPerIdleAgent} bytes (${whole(IDLE_AGENTS)} agents, heap after gc)`)

  return {
    ...ratesJson(rates),
    ...growthJson(growth),
    bytesPerIdleAgent,
    autogen: autogenJson(rates, autogen),
  }
}

function printRates(print: (line: string) => void, rates: Rates, autogen: AutogenRates | undefined): void {
  const row = (name: string, { ours, baseline }: Throughput, other: number | undefined): string[] => [
    name,
    whole(ours),
    whole(baseline),
    ratio(ours / baseline).toString(),
    ...(other === undefined ? [] : [whole(other), `${ratio(ours / other)}`]),
  ]
  const comparison = autogen ? [`AutoGen ${autogen.version}`, "ours/AutoGen"] : []
  print(
    formatTable(
      ["per second, median of rounds", "ours", "bare mailbox", "ours/bare", ...comparison],
      [
        row("serial request/reply", rates.serial, autogen?.serialPerSecond),
        row(`${CONCURRENCY} concurrent requests`, rates.concurrent, autogen?.concurrentPerSecond),
        row(`deliveries to ${SUBSCRIBERS} subscribers`, rates.publish, autogen?.deliveriesPerSecond),
      ],
    ),
  )
  if (!autogen) print(`AutoGen is not compared: ${PYTHON_VARIABLE} names no Python with autogen_core.`)
}

function printGrowth(print: (line: string) => void, points: readonly GrowthPoint[]): void {
  const rows = points.map((point) => [
    whole(point.agents),
    whole(point.medianNs),
    whole(point.minimumNs),
    whole(point.baselineMedianNs),
    whole(point.baselineMinimumNs),
  ])
  print(`\nCost of a serial message in ns, of ${GROWTH_ROUNDS} interleaved rounds:`)
  print(formatTable(["agents", "ours, median", "minimum", "bare mailbox, median", "minimum"], rows))
  const { growth100kAgents, baselineGrowth100kAgents } = growthRatios(points)
  print(
    `Growth from fewest to most agents, by medians: ours ${growth100kAgents}, bare mailbox ` +
      `${baselineGrowth100kAgents}, which is what the CPU caches alone cost`,
  )
}

function ratesJson({ serial, concurrent, publish }: Rates): JsonObject {
  return {
    tracing: "off",
    serialPerSecond: Math.round(serial.ours),
    baselineSerialPerSecond: Math.round(serial.baseline),
    serialRatio: ratio(serial.ours / serial.baseline),
    concurrentPerSecond: Math.round(concurrent.ours),
    baselineConcurrentPerSecond: Math.round(concurrent.baseline),
    concurrentRatio: ratio(concurrent.ours / concurrent.baseline),
    deliveriesPerSecond: Math.round(publish.ours),
    baselineDeliveriesPerSecond: Math.round(publish.baseline),
    deliveriesRatio: ratio(publish.ours / publish.baseline),
  }
}

function growthJson(points: readonly GrowthPoint[]): JsonObject {
  return { ...growthRatios(points), growth: points.map((point) => ({ ...point })) }
}

function growthRatios(points: readonly GrowthPoint[]): {
  growth100kAgents: number
  growth100kAgentsByMinimum: number
  baselineGrowth100kAgents: number
  baselineGrowth100kAgentsByMinimum: number
} {
  const fewest = points[0]
  const most = points.at(-1)
  if (!fewest || !most) throw new Error("There are no growth points.")
  return {
    growth100kAgents: ratio(most.medianNs / fewest.medianNs),
    growth100kAgentsByMinimum: ratio(most.minimumNs / fewest.minimumNs),
    baselineGrowth100kAgents: ratio(most.baselineMedianNs / fewest.baselineMedianNs),
    baselineGrowth100kAgentsByMinimum: ratio(most.baselineMinimumNs / fewest.baselineMinimumNs),
  }
}

function autogenJson(rates: Rates, autogen: AutogenRates | undefined): JsonObject | null {
  if (!autogen) return null
  return {
    ...autogen,
    serialRatio: ratio(rates.serial.ours / autogen.serialPerSecond),
    concurrentRatio: ratio(rates.concurrent.ours / autogen.concurrentPerSecond),
    deliveriesRatio: ratio(rates.publish.ours / autogen.deliveriesPerSecond),
  }
}

function ratio(value: number): number {
  return Number(value.toFixed(2))
}

function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US")
}
