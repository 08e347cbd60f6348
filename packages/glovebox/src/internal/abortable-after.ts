import { watchAbort } from "./watch-abort.ts"

/** The promise, or the signal's reason when it has not settled so long after the abort; the work behind it goes on. */
export function abortableAfter<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
  graceMs: number,
): Promise<T> {
  if (!signal) return promise
  return new Promise<T>((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    const unwatch = watchAbort(signal, (reason) => {
      timer = setTimeout(() => reject(reason), graceMs)
    })
    const end = (): void => {
      unwatch()
      clearTimeout(timer)
    }
    promise.then(
      (value) => {
        end()
        return resolve(value)
      },
      (error: unknown) => {
        end()
        reject(error)
      },
    )
  })
}
