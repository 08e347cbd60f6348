import { watchAbort } from "./watch-abort.ts"

/** A bounded number of places, given in the order they were asked for. */
export class Slots {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(count: number) {
    this.#free = count
  }

  /** Waits for a place; the result gives it back, once. */
  async take(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    if (this.#free > 0) {
      this.#free -= 1
      return this.#giveBack()
    }
    await new Promise<void>((resolve, reject) => {
      const enter = (): void => {
        unwatch?.()
        resolve()
      }
      this.#waiting.add(enter)
      const unwatch = signal
        ? watchAbort(signal, (reason) => {
            this.#waiting.delete(enter)
            reject(reason)
          })
        : undefined
    })
    return this.#giveBack()
  }

  #giveBack(): () => void {
    let isBack = false
    return () => {
      if (isBack) return
      isBack = true
      const [next] = this.#waiting
      if (next === undefined) this.#free += 1
      else {
        // The place goes from hand to hand, so that nobody comes between.
        this.#waiting.delete(next)
        next()
      }
    }
  }
}
