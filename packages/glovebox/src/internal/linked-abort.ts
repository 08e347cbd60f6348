import { watchAbort } from "./watch-abort.ts"

/** A signal of one's own that also aborts with another one. `AbortSignal.any` does the same at many times the cost. */
export class LinkedAbort {
  readonly #controller = new AbortController()
  readonly #unlink: () => void

  constructor(parent: AbortSignal | undefined) {
    this.#unlink = parent ? watchAbort(parent, (reason) => this.#controller.abort(reason)) : () => {}
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  abort(reason: unknown): void {
    this.#unlink()
    this.#controller.abort(reason)
  }

  /** Lets go of the other signal; this one stays what it is. */
  unlink(): void {
    this.#unlink()
  }
}
