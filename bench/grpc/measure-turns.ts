import { median } from "../median.ts"
import { quietWindow } from "../quiet-window.ts"
import type { Contender } from "./contender.ts"
import type { Turn } from "./programs/turn.ts"
import type { Workload } from "./workload.ts"

/** Medians of rounds. */
export interface Pace {
  readonly perSecond: number
  /** The median of each turn's median; 0 where several are on their way at once. */
  readonly medianUs: number
}

export const ROUNDS = 7
// What a compiler does while a program runs takes it more than a moment.
const WARM_UP_ROUNDS = 3

/** What each contender does in a second; they take turns, so that whatever else the machine does hits all. */
export async function measureTurns<Name extends string>(
  contenders: Readonly<Record<Name, Contender>>,
  workload: Workload,
): Promise<Record<Name, Pace>> {
  const entrants = Object.entries<Contender>(contenders).map(([name, contender]) => ({
    name,
    contender,
    turns: [] as Turn[],
  }))
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
    for (const { contender, turns } of round % 2 === 0 ? entrants : entrants.toReversed()) {
      await quietWindow()
      const turn = await contender.run(workload)
      if (round >= 0) turns.push(turn)
    }
  }
  return Object.fromEntries(entrants.map(({ name, turns }) => [name, paceOf(turns)])) as Record<Name, Pace>
}

function paceOf(turns: readonly Turn[]): Pace {
  return {
    perSecond: median(turns.map(({ operations, elapsedMs }) => (operations * 1_000) / elapsedMs)),
    medianUs: median(turns.map(({ medianUs = 0 }) => medianUs)),
  }
}
