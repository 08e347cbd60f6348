import type { JsonObject } from "glovebox/core"
import type { AutogenRates } from "./autogen.ts"
import { type GrowthPoint, growthRatios } from "./growth.ts"
import type { Throughput } from "./throughput.ts"
import type { Workload } from "./workload.ts"

type Rates = Readonly<Record<Workload, Throughput>>

export function throughputNumbers({ serial, concurrent, publish }: Rates): JsonObject {
  return {
    serialPerSecond: Math.round(serial.ours),
    baselineSerialPerSecond: Math.round(serial.baseline),
    baselineAloneSerialPerSecond: Math.round(serial.baselineAlone),
    serialRatio: rounded(serial.ours / serial.baseline),
    concurrentPerSecond: Math.round(concurrent.ours),
    baselineConcurrentPerSecond: Math.round(concurrent.baseline),
    baselineAloneConcurrentPerSecond: Math.round(concurrent.baselineAlone),
    concurrentRatio: rounded(concurrent.ours / concurrent.baseline),
    deliveriesPerSecond: Math.round(publish.ours),
    baselineDeliveriesPerSecond: Math.round(publish.baseline),
    baselineAloneDeliveriesPerSecond: Math.round(publish.baselineAlone),
    deliveriesRatio: rounded(publish.ours / publish.baseline),
  }
}

export function growthNumbers(points: readonly GrowthPoint[]): JsonObject {
  const ratios = Object.entries(growthRatios(points)).map(([name, ratio]) => [name, rounded(ratio)])
  return { ...Object.fromEntries(ratios), growth: points.map((point) => ({ ...point })) }
}

export function autogenNumbers(rates: Rates, autogen: AutogenRates | undefined): JsonObject | null {
  if (!autogen) return null
  return {
    version: autogen.version,
    serialPerSecond: Math.round(autogen.serialPerSecond),
    serialRatio: rounded(rates.serial.ours / autogen.serialPerSecond),
    concurrentPerSecond: Math.round(autogen.concurrentPerSecond),
    concurrentRatio: rounded(rates.concurrent.ours / autogen.concurrentPerSecond),
    deliveriesPerSecond: Math.round(autogen.deliveriesPerSecond),
    deliveriesRatio: rounded(rates.publish.ours / autogen.deliveriesPerSecond),
  }
}

function rounded(ratio: number): number {
  return Number(ratio.toFixed(3))
}
