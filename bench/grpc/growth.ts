import { median } from "../median.ts"
import { quietWindow } from "../quiet-window.ts"
import { LineProcess } from "./line-process.ts"
import type { Turn } from "./programs/turn.ts"
import { IN_FLIGHT } from "./workload.ts"

/** What a request costs when so many workers and agents are connected, in microseconds. */
export interface GrowthPoint {
  readonly workers: number
  readonly agents: number
  readonly serialUs: number
  readonly concurrentUs: number
}

const GROWTH_ROUNDS = 5
const SIZES = [
  { workers: 2, agents: 100 },
  { workers: 100, agents: 10_000 },
] as const
/** Workers share these, because no machine of ours has a processor for each. */
const PROCESSES = 2
const SERIAL_CALLS = 2_000
const CONCURRENT_CALLS = 10_000

type Size = (typeof SIZES)[number]

/** Sizes take turns; each is gathered anew, so that only its own workers are connected while it is measured. */
export async function measureGrowth(): Promise<GrowthPoint[]> {
  const samples = SIZES.map((size) => ({ size, serial: [] as number[], concurrent: [] as number[] }))
  for (let round = 0; round < GROWTH_ROUNDS; round += 1) {
    for (const { size, serial, concurrent } of round % 2 === 0 ? samples : samples.toReversed()) {
      const costs = await costsOf(size)
      serial.push(costs.serialUs)
      concurrent.push(costs.concurrentUs)
    }
  }
  return samples.map(({ size, serial, concurrent }) => ({
    ...size,
    serialUs: median(serial),
    concurrentUs: median(concurrent),
  }))
}

async function costsOf({ workers, agents }: Size): Promise<{ serialUs: number; concurrentUs: number }> {
  await using host = await LineProcess.node("glovebox-host")
  const share = String(workers / PROCESSES)
  await using _first = await LineProcess.node("glovebox-callee", host.address, share)
  await using _second = await LineProcess.node("glovebox-callee", host.address, share)
  await using caller = await LineProcess.node("glovebox-caller", host.address)
  const cost = async (calls: number, inFlight: number): Promise<number> => {
    await quietWindow()
    const { operations, elapsedMs }: Turn = await caller.ask("visit", { agents, calls, inFlight })
    return (elapsedMs * 1_000) / operations
  }
  // Builds every agent, and as often at either size warms up.
  await cost(CONCURRENT_CALLS, IN_FLIGHT)
  return {
    serialUs: await cost(SERIAL_CALLS, 1),
    concurrentUs: await cost(CONCURRENT_CALLS, IN_FLIGHT),
  }
}

export function growthRatios(points: readonly GrowthPoint[]): { serial: number; concurrent: number } {
  const [few, many] = [points[0], points.at(-1)]
  if (!few || !many) throw new Error("There is no growth of nothing.")
  return { serial: many.serialUs / few.serialUs, concurrent: many.concurrentUs / few.concurrentUs }
}
