import type { JsonObject } from "glovebox/core"
import { type GrowthPoint, growthRatios } from "./growth.ts"
import type { Pace } from "./measure-turns.ts"
import { ECHO_HOPS, HOPS, type Workload } from "./workload.ts"

/** One workload, done by all. */
export interface GrpcNumbers {
  readonly workload: Workload
  readonly ours: Pace
  readonly echo: Pace
  /** Hops a second of ours over those of the echo. */
  readonly perHop: number
  readonly autogen: Pace | undefined
  readonly timesAutogen: number | undefined
}

export function compare(workload: Workload, ours: Pace, echo: Pace, autogen: Pace | undefined): GrpcNumbers {
  const perHop = (ours.perSecond * HOPS[workload]) / (echo.perSecond * ECHO_HOPS)
  const timesAutogen = autogen && ours.perSecond / autogen.perSecond
  return { workload, ours, echo, perHop, autogen, timesAutogen }
}

export function paceNumbers(numbers: readonly GrpcNumbers[]): JsonObject {
  return Object.fromEntries(
    numbers.map(({ workload, ours, echo, perHop, autogen, timesAutogen }) => [
      workload,
      {
        perSecond: Math.round(ours.perSecond),
        medianUs: Math.round(ours.medianUs),
        echoPerSecond: Math.round(echo.perSecond),
        echoMedianUs: Math.round(echo.medianUs),
        perHop: rounded(perHop),
        autogenPerSecond: autogen ? rounded(autogen.perSecond) : null,
        autogenMedianUs: autogen ? Math.round(autogen.medianUs) : null,
        timesAutogen: timesAutogen === undefined ? null : rounded(timesAutogen),
      },
    ]),
  )
}

export function growthNumbers(points: readonly GrowthPoint[]): JsonObject {
  const { serial, concurrent } = growthRatios(points)
  return {
    points: points.map(({ serialUs, concurrentUs, ...size }) => ({
      ...size,
      serialUs: rounded(serialUs),
      concurrentUs: rounded(concurrentUs),
    })),
    serialGrowth: rounded(serial),
    concurrentGrowth: rounded(concurrent),
  }
}

function rounded(value: number): number {
  return Number(value.toFixed(3))
}
