import type { EngineBed } from "./engine-bed.ts"
import { PRINT } from "../programs.ts"
import { LOAD_SECONDS } from "./settings.ts"
import { SettlingExecutor } from "./settling-executor.ts"

/** Runs a second, each in a fresh container, when so many callers never wait. */
export async function runsPerSecond(bed: EngineBed, concurrency: number): Promise<number> {
  const poolSize = 2 * concurrency
  await using executor = await SettlingExecutor.start(bed, poolSize, { concurrency })
  // Only what the pool makes during the load counts, not what it had in stock.
  return await sustainedRate(async () => executor.print(PRINT), concurrency, poolSize + concurrency)
}

/** Containers a second that the engine creates, starts and removes with the same settings, and nothing else. */
export async function createStartRemovePerSecond(bed: EngineBed, concurrency: number): Promise<number> {
  const spec = bed.spec(["sleep", "infinity"])
  const cycle = async (): Promise<void> => {
    const id = await bed.engine.create(spec)
    await bed.engine.start(id)
    await bed.engine.remove(id)
  }
  return sustainedRate(cycle, concurrency, concurrency)
}

async function sustainedRate(
  work: () => Promise<void>,
  concurrency: number,
  warmUps: number,
): Promise<number> {
  let done = 0
  let startedAt = Number.POSITIVE_INFINITY
  let rate: number | undefined
  const caller = async (): Promise<void> => {
    while (rate === undefined) {
      await work()
      done += 1
      const now = performance.now()
      if (done === warmUps) startedAt = now
      const elapsedMs = now - startedAt
      if (elapsedMs >= LOAD_SECONDS * 1_000) rate ??= ((done - warmUps) * 1_000) / elapsedMs
    }
  }
  await Promise.all(Array.from({ length: concurrency }, caller))
  return rate ?? 0
}
