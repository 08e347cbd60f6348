import { median } from "./median.ts"
import { quietWindow } from "./quiet-window.ts"

type Times<Name extends string> = Partial<Record<Name, number>>

export interface Contender<Name extends string> {
  /** Does the work once, and says how long it took. */
  readonly sample: () => Promise<Times<Name>>
  /** Waits until nothing of a sample goes on that would disturb the next contender's. */
  readonly settle?: () => Promise<void>
}

/** The medians of what the contenders measure, taking turns so that whatever else the machine does hits all. */
export async function interleave<Name extends string>(
  contenders: readonly Contender<Name>[],
  rounds: number,
): Promise<Record<Name, number>> {
  const samples = new Map<string, number[]>()
  // The first round only warms up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const { sample, settle } of round % 2 === 0 ? contenders : contenders.toReversed()) {
      await quietWindow()
      const times = await sample()
      await settle?.()
      if (round === 0) continue
      for (const [name, time] of Object.entries<number | undefined>(times)) {
        if (time !== undefined) samples.set(name, [...(samples.get(name) ?? []), time])
      }
    }
  }
  return Object.fromEntries([...samples].map(([name, times]) => [name, median(times)])) as Record<
    Name,
    number
  >
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}
