import { median } from "../median.ts"
import type { EngineBed } from "./engine-bed.ts"
import { createStartRemovePerSecond, runsPerSecond } from "./sustained.ts"

const CONCURRENCIES = [1, 2, 4, 8] as const

export interface Throughput {
  readonly runsPerSecond: ReadonlyMap<number, number>
  readonly bestConcurrency: number
  readonly createStartRemovePerSecond: number
  /** Runs to bare containers at the best concurrency, which took turns. */
  readonly ratio: number
}

/** How many fresh containers a second run something, against how many the engine can make at all. */
export async function measureThroughput(bed: EngineBed): Promise<Throughput> {
  const rates = new Map<number, number>()
  for (const concurrency of CONCURRENCIES) rates.set(concurrency, await runsPerSecond(bed, concurrency))
  const best = [...rates].reduce((a, b) => (b[1] > a[1] ? b : a))[0]
  const ours: number[] = []
  const bare: number[] = []
  for (let turn = 0; turn < 2; turn += 1) {
    bare.push(await createStartRemovePerSecond(bed, best))
    ours.push(await runsPerSecond(bed, best))
  }
  return {
    runsPerSecond: rates,
    bestConcurrency: best,
    createStartRemovePerSecond: median(bare),
    ratio: median(ours) / median(bare),
  }
}
