import { median } from "./median.ts"

/** Does some operations, and says how many. */
export type Batch = () => Promise<number>

export interface MeasureOptions {
  /** How often each contender gets a turn. @default 5 */
  readonly rounds?: number
  /** How long a turn is. @default 300 */
  readonly turnMs?: number
  /** How long each contender runs before the first turn. @default 500 */
  readonly warmUpMs?: number
}

/**
 * Operations a second of ours and of its baseline, the median of several rounds.
 * They take turns, so that whatever else the machine does hits both.
 */
export async function measureRates(
  ours: Batch,
  baseline: Batch,
  { rounds = 5, turnMs = 300, warmUpMs = 500 }: MeasureOptions = {},
): Promise<{ ours: number; baseline: number }> {
  const contenders = [
    { batch: ours, rates: [] as number[] },
    { batch: baseline, rates: [] as number[] },
  ] as const
  for (const { batch } of contenders) await rateOf(batch, warmUpMs)
  for (let round = 0; round < rounds; round += 1) {
    // Nobody always goes first, and so always collects the other's garbage.
    for (const { batch, rates } of round % 2 === 0 ? contenders : contenders.toReversed()) {
      await batch()
      rates.push(await rateOf(batch, turnMs))
    }
  }
  return { ours: median(contenders[0].rates), baseline: median(contenders[1].rates) }
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
