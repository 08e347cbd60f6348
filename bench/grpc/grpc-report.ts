import { PYTHON_VARIABLE } from "../autogen-python.ts"
import { twoDecimals, whole } from "../format-number.ts"
import { formatTable } from "../format-table.ts"
import { type GrowthPoint, growthRatios } from "./growth.ts"
import type { GrpcNumbers } from "./grpc-numbers.ts"
import { ROUNDS } from "./measure-turns.ts"
import { CONTENT, ECHO_HOPS, HOPS, IN_FLIGHT, SUBSCRIBERS, type Workload } from "./workload.ts"

const NAMES: Readonly<Record<Workload, string>> = {
  serial: "serial request/reply",
  concurrent: `request/reply, ${IN_FLIGHT} in flight`,
  publish: `deliveries to ${SUBSCRIBERS} workers`,
}

export function paceReport(numbers: readonly GrpcNumbers[], version: string | undefined): string {
  const compared = version === undefined ? [] : [`AutoGen ${version}`, "ours/AutoGen"]
  const table = formatTable(
    [`a second, medians of ${ROUNDS} rounds`, "ours", "bare echo", "hop/echo hop", ...compared],
    numbers.map(({ workload, ours, echo, perHop, autogen, timesAutogen }) => [
      NAMES[workload],
      whole(ours.perSecond),
      whole(echo.perSecond),
      twoDecimals(perHop),
      ...(autogen ? [whole(autogen.perSecond), twoDecimals(timesAutogen ?? 0)] : []),
    ]),
  )
  const notes = [
    `A hop is one message over one connection, one way: request/reply through a host has ${HOPS.serial}, an echo ${ECHO_HOPS}, a`,
    `delivery ${HOPS.publish} (one to the host for ${SUBSCRIBERS} from it). Hop/echo hop: hops a second of ours over those of the echo.`,
    `Each side is a process of its own; messages carry ${whole(CONTENT.length)} bytes of text.`,
  ]
  const serial = numbers.find(({ workload }) => workload === "serial")
  if (serial) {
    const { ours, echo, autogen } = serial
    const theirs = autogen ? `, AutoGen's ${whole(autogen.medianUs)}` : ""
    notes.push(
      `Half of the serial ones take at most ${whole(ours.medianUs)} microseconds, the echo's ${whole(echo.medianUs)}${theirs}.`,
    )
  }
  if (version === undefined) notes.push(`AutoGen is not compared: ${PYTHON_VARIABLE} names no Python.`)
  return [table, ...notes].join("\n")
}

export function growthReport(points: readonly GrowthPoint[]): string {
  const { serial, concurrent } = growthRatios(points)
  const table = formatTable(
    ["microseconds a request/reply costs", "serial", `${IN_FLIGHT} in flight`],
    points.map(({ workers, agents, serialUs, concurrentUs }) => [
      `${whole(workers)} workers, ${whole(agents)} agents`,
      whole(serialUs),
      whole(concurrentUs),
    ]),
  )
  return `\n${table}\nGrowth: serial ${twoDecimals(serial)}, ${IN_FLIGHT} in flight ${twoDecimals(concurrent)}.`
}
