import type { JsonObject } from "glovebox/core"
import { type GrowthPoint, growthRatios } from "./growth.ts"
import type { Pace } from "./measure-turns.ts"
import { ECHO_HOPS, HOPS, RELAY_HOPS, type Workload } from "./workload.ts"

/** One workload, done by all. */
export interface GrpcNumbers {
  readonly workload: Workload
  readonly ours: Pace
  readonly echo: Pace
  readonly relay: Pace
  /** Hops a second of ours over those of the echo. */
  readonly perEchoHop: number
  readonly perRelayHop: number
  readonly autogen: Pace | undefined
  readonly timesAutogen: number | undefined
}

export interface Paces {
  readonly ours: Pace
  readonly echo: Pace
  readonly relay: Pace
  readonly autogen?: Pace | undefined
}

export function compare(workload: Workload, { ours, echo, relay, autogen }: Paces): GrpcNumbers {
  const hops = ours.perSecond * HOPS[workload]
  return {
    workload,
    ours,
    echo,
    relay,
    perEchoHop: hops / (echo.perSecond * ECHO_HOPS),
    perRelayHop: hops / (relay.perSecond * RELAY_HOPS),
    autogen,
    timesAutogen: autogen && ours.perSecond / autogen.perSecond,
  }
}

export function paceNumbers(numbers: readonly GrpcNumbers[]): JsonObject {
  return Object.fromEntries(
    numbers.map(({ workload, ours, echo, relay, perEchoHop, perRelayHop, autogen, timesAutogen }) => [
      workload,
      {
        ours: paceNumber(ours),
        echo: paceNumber(echo),
        relay: paceNumber(relay),
        autogen: autogen ? paceNumber(autogen) : null,
        perEchoHop: rounded(perEchoHop),
        perRelayHop: rounded(perRelayHop),
        timesAutogen: timesAutogen === undefined ? null : rounded(timesAutogen),
      },
    ]),
  )
}

function paceNumber({ perSecond, medianUs }: Pace): JsonObject {
  return { perSecond: rounded(perSecond), medianUs: rounded(medianUs) }
}

export function growthNumbers(points: readonly GrowthPoint[]): JsonObject {
  return {
    points: points.map(({ costUs, ...size }) => ({ ...size, costUs: roundedAll(costUs) })),
    ratios: roundedAll(growthRatios(points)),
  }
}

function rounded(value: number): number {
  return Number(value.toFixed(3))
}

function roundedAll(numbers: Readonly<Record<string, number>>): JsonObject {
  return Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, rounded(value)]))
}
