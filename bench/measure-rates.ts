import { median } from "./median.ts"

/** Does some operations, and says how many. */
export type Batch = () => Promise<number>

export interface MeasureOptions {
  /** How often each contender gets a turn. @default 5 */
  readonly rounds?: number
  /** How long a turn is. @default 300 */
  readonly turnMs?: number
  /** How long each contender runs before the first turn. @default 300 */
  readonly warmUpMs?: number
}

/**
 * Operations a second of each contender, the median of several rounds.
 * They take turns, so that whatever else the machine does hits all.
 */
export async function measureRates<Name extends string>(
  contenders: Readonly<Record<Name, Batch>>,
  { rounds = 5, turnMs = 300, warmUpMs = 300 }: MeasureOptions = {},
): Promise<Record<Name, number>> {
  const entrants = Object.entries<Batch>(contenders).map(([name, batch]) => ({
    name,
    batch,
    rates: [] as number[],
  }))
  for (const { batch } of entrants) await rateOf(batch, warmUpMs)
  for (let round = 0; round < rounds; round += 1) {
    // Nobody always goes first, and so always collects the other's garbage.
    for (const { batch, rates } of round % 2 === 0 ? entrants : entrants.toReversed()) {
      rates.push(await rateOf(batch, turnMs))
    }
  }
  return Object.fromEntries(entrants.map(({ name, rates }) => [name, median(rates)])) as Record<Name, number>
}

async function rateOf(batch: Batch, durationMs: number): Promise<number> {
  const start = performance.now()
  let operations = 0
  let elapsedMs = 0
  while (elapsedMs < durationMs) {
    operations += await batch()
    elapsedMs = performance.now() - start
  }
  return (operations * 1_000) / elapsedMs
}
