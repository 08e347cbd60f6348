import { PYTHON_VARIABLE } from "../autogen-python.ts"
import { twoDecimals, whole } from "../format-number.ts"
import { formatTable } from "../format-table.ts"
import { type GrowthPoint, LOADS, growthRatios } from "./growth.ts"
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
    [
      `a second, medians of ${ROUNDS} rounds`,
      "ours",
      "bare echo",
      "hop/echo hop",
      "bare relay",
      "hop/relay hop",
      ...compared,
    ],
    numbers.map(({ workload, ours, echo, relay, perEchoHop, perRelayHop, autogen, timesAutogen }) => [
      NAMES[workload],
      whole(ours.perSecond),
      whole(echo.perSecond),
      twoDecimals(perEchoHop),
      whole(relay.perSecond),
      twoDecimals(perRelayHop),
      ...(autogen ? [whole(autogen.perSecond), twoDecimals(timesAutogen ?? 0)] : []),
    ]),
  )
  const notes = [
    `A hop is one message over one connection, one way: request/reply through a host has ${HOPS.serial}, as has the relay, an`,
    `echo ${ECHO_HOPS}, a delivery ${HOPS.publish} (one to the host for ${SUBSCRIBERS} from it). Hop/echo hop: hops a second of ours over the echo's.`,
    `Echo: grpc-js alone, between two processes. Relay: grpc-js alone, through a third, as ours. Each message has ${whole(CONTENT.length)}`,
    "bytes of text; the bare ones send the bytes of our request. Deliveries are compared with echoes and relays in flight.",
  ]
  const serial = numbers.find(({ workload }) => workload === "serial")
  if (serial) {
    const { ours, echo, relay, autogen } = serial
    const theirs = autogen ? `, AutoGen's ${whole(autogen.medianUs)}` : ""
    notes.push(
      `Half of the serial ones take at most ${whole(ours.medianUs)} microseconds, the echo's ${whole(echo.medianUs)}, the relay's ${whole(relay.medianUs)}${theirs}.`,
    )
  }
  if (version === undefined) notes.push(`AutoGen is not compared: ${PYTHON_VARIABLE} names no Python.`)
  return [table, ...notes].join("\n")
}

export function growthReport(points: readonly GrowthPoint[]): string {
  const ratios = growthRatios(points)
  const table = formatTable(
    [
      "microseconds a request/reply costs",
      "serial, to all",
      `${IN_FLIGHT} in flight, to 2 workers`,
      `${IN_FLIGHT} in flight, to all`,
    ],
    [
      ...points.map(({ workers, agents, costUs }) => [
        `${whole(workers)} workers, ${whole(agents)} agents`,
        ...LOADS.map((load) => whole(costUs[load])),
      ]),
      ["growth", ...LOADS.map((load) => twoDecimals(ratios[load]))],
    ],
  )
  return [
    `\n${table}`,
    "To all: what goes over a hundred connections cannot be joined as it is over two, so each message pays for a write.",
  ].join("\n")
}
