import { watchAbort } from "./watch-abort.ts"

/** The promise, or the signal's reason if that comes first; the work behind the promise goes on. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  // By hand, because a race costs three promises more, and this is on every path.
  return new Promise<T>((resolve, reject) => {
    const unwatch = watchAbort(signal, reject)
    // Whoever is told of the abort hears no more of the promise, nor may its failure be nobody's.
    promise.then(
      (value) => {
        unwatch()
        return resolve(value)
      },
      (error: unknown) => {
        unwatch()
        reject(error)
      },
    )
  })
}
