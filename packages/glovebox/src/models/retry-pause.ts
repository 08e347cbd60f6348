import { setTimeout as sleep } from "node:timers/promises"
import type { ModelFailure } from "./model-failure.ts"

const MAX_PAUSE_MS = 30_000

/** How long to wait before another attempt: what the provider asks for, else twice as long each time, and a bit at random. */
export function retryPauseMs(failure: ModelFailure, attempt: number, firstMs: number): number {
  if (failure.retryAfterMs !== undefined) return failure.retryAfterMs
  const pause = Math.min(firstMs * 2 ** (attempt - 1), MAX_PAUSE_MS)
  return pause * (0.75 + Math.random() * 0.25)
}

/** Waits, or rejects with the signal's reason. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal })
  } catch {
    signal.throwIfAborted()
  }
}
