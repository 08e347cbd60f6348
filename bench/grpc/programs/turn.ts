import { median } from "../../median.ts"

/** What was done in a turn. */
export interface Turn {
  readonly operations: number
  readonly elapsedMs: number
  /** Half of the operations took no longer; only where each waits for the one before. */
  readonly medianUs?: number
}

type Operation = () => Promise<unknown>

/** One after the other for so long. */
export async function serialTurn(operation: Operation, turnMs: number): Promise<Turn> {
  const times: number[] = []
  const start = performance.now()
  let now = start
  while (now - start < turnMs) {
    await operation()
    const end = performance.now()
    times.push(end - now)
    now = end
  }
  return { operations: times.length, elapsedMs: now - start, medianUs: median(times) * 1_000 }
}

/** For so long, each operation as often as it can, one after the other. */
export async function concurrentTurn(operations: readonly Operation[], turnMs: number): Promise<Turn> {
  const start = performance.now()
  let done = 0
  await Promise.all(
    operations.map(async (operation) => {
      while (performance.now() - start < turnMs) {
        await operation()
        done += 1
      }
    }),
  )
  return { operations: done, elapsedMs: performance.now() - start }
}

/** So many times, so many at once. */
export async function countedTurn(operation: Operation, count: number, inFlight: number): Promise<Turn> {
  const start = performance.now()
  let begun = 0
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (begun < count) {
        begun += 1
        await operation()
      }
    }),
  )
  return { operations: count, elapsedMs: performance.now() - start }
}
