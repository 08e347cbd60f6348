import { median } from "../median.ts"
import { TASK, turnsOf, twoAgents } from "./two-agents.ts"

/** What a turn costs when the conversation has so many messages, in microseconds. */
export interface GrowthPoint {
  readonly messages: number
  readonly medianUs: number
}

const SIZES = [100, 1_000, 10_000]
export const GROWTH_ROUNDS = 5
/** How many turns are measured at each size, half of them before and half behind it. */
export const BLOCK = 100

/** One conversation after the other to the greatest size, each timed where it passes a size. */
export async function measureTurnGrowth(): Promise<GrowthPoint[]> {
  const costs = new Map<number, number[]>(SIZES.map((size) => [size, []]))
  // The first one only warms up.
  for (let round = 0; round <= GROWTH_ROUNDS; round += 1) {
    const times = await timesOfMessages()
    for (const [size, samples] of costs) {
      const took = (times[size + BLOCK / 2] ?? 0) - (times[size - BLOCK / 2] ?? 0)
      if (round > 0) samples.push((took * 1_000) / BLOCK)
    }
  }
  return [...costs].map(([messages, samples]) => ({ messages, medianUs: median(samples) }))
}

async function timesOfMessages(): Promise<number[]> {
  await using team = twoAgents(turnsOf(Math.max(...SIZES) + BLOCK))
  const times: number[] = []
  for await (const item of team.runStream(TASK)) {
    if (item.type === "TextMessage") times.push(performance.now())
  }
  return times
}

/** What a turn costs in the longest conversation over what it costs in the shortest. */
export function growthRatio(points: readonly GrowthPoint[]): number {
  const [first, last] = [points[0], points.at(-1)]
  if (!first || !last) throw new Error("There is no growth of nothing.")
  return last.medianUs / first.medianUs
}
