import { GloveboxError } from "../../core/index.ts"

/** A signal that aborts when a turn takes too long; it is to be cleared when the turn has ended. */
export function turnDeadline(speaker: string, ms: number): { readonly signal: AbortSignal; clear(): void } {
  const controller = new AbortController()
  const timer = setTimeout(() => {
    controller.abort(new GloveboxError("TURN_TIMEOUT", `${speaker} did not end its turn within ${ms} ms.`))
  }, ms)
  return { signal: controller.signal, clear: () => clearTimeout(timer) }
}
