import { median } from "../median.ts"
import { quietWindow } from "../quiet-window.ts"
import { LineProcess } from "./line-process.ts"
import type { Turn } from "./programs/turn.ts"
import { IN_FLIGHT } from "./workload.ts"

const SIZES = [
  { workers: 2, agents: 100 },
  { workers: 100, agents: 10_000 },
] as const
/** Each request waits for the one before; many at once to agents of two workers; as many to agents of all workers. */
export const LOADS = ["serial", "few", "spread"] as const

export type Load = (typeof LOADS)[number]

/** What a request costs when so many workers and agents are connected, in microseconds. */
export interface GrowthPoint {
  readonly workers: number
  readonly agents: number
  readonly costUs: Readonly<Record<Load, number>>
}

const GROWTH_ROUNDS = 3
// Workers share these, because no machine of ours has a processor for each.
const PROCESSES = 2
const TURN_MS = 1_000
const SERIAL_CALLS = 1_000
const SPREAD_CALLS = 10_000

/** Sizes take turns; each is gathered anew, so that only its own workers are connected while it is measured. */
export async function measureGrowth(): Promise<GrowthPoint[]> {
  const samples = SIZES.map((size) => ({ size, costs: [] as Record<Load, number>[] }))
  for (let round = 0; round < GROWTH_ROUNDS; round += 1) {
    for (const { size, costs } of round % 2 === 0 ? samples : samples.toReversed()) {
      costs.push(await costsOf(size.workers, size.agents))
    }
  }
  return samples.map(({ size, costs }) => ({
    ...size,
    costUs: byLoad((load) => median(costs.map((cost) => cost[load]))),
  }))
}

/** What a request costs with most over what it costs with fewest. */
export function growthRatios(points: readonly GrowthPoint[]): Record<Load, number> {
  const [fewest, most] = [points[0], points.at(-1)]
  if (!fewest || !most) throw new Error("There is no growth of nothing.")
  return byLoad((load) => most.costUs[load] / fewest.costUs[load])
}

async function costsOf(workers: number, agents: number): Promise<Record<Load, number>> {
  await using host = await LineProcess.node("glovebox-host")
  const share = String(workers / PROCESSES)
  await using _first = await LineProcess.node("glovebox-callee", host.address, share)
  await using _second = await LineProcess.node("glovebox-callee", host.address, share)
  await using caller = await LineProcess.node("glovebox-caller", host.address)
  const cost = async (command: string, fields: object): Promise<number> => {
    await quietWindow()
    const { operations, elapsedMs }: Turn = await caller.ask(command, fields)
    return (elapsedMs * 1_000) / operations
  }
  const spread = { agents, calls: SPREAD_CALLS, inFlight: IN_FLIGHT }
  // Builds every agent, and warms up by as many calls at either size.
  await cost("visit", spread)
  return {
    spread: await cost("visit", spread),
    serial: await cost("visit", { agents, calls: SERIAL_CALLS, inFlight: 1 }),
    few: await cost("concurrent", { turnMs: TURN_MS }),
  }
}

function byLoad(read: (load: Load) => number): Record<Load, number> {
  return { serial: read("serial"), few: read("few"), spread: read("spread") }
}
