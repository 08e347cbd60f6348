import { watchAbort } from "./watch-abort.ts"

/** The promise, or the signal's reason if that comes first; the work behind the promise goes on. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  // Whoever is told of the abort hears no more of the promise, nor may its failure be nobody's.
  promise.catch(() => {})
  signal.throwIfAborted()
  let unwatch: (() => void) | undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    unwatch = watchAbort(signal, reject)
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    unwatch?.()
  }
}
