import { GloveboxError } from "../core/index.ts"
import { abortable } from "../internal/abortable.ts"
import { watchAbort } from "../internal/watch-abort.ts"

/** One call: everything that may end it early ends in one signal, whose reason is what the caller is told. */
export class OpenCall implements Disposable {
  readonly #controller = new AbortController()
  readonly #deadline: NodeJS.Timeout
  readonly #endsAt: number
  readonly #unwatch: (() => void) | undefined

  constructor(timeoutMs: number, signal: AbortSignal | undefined) {
    signal?.throwIfAborted()
    this.#endsAt = Date.now() + timeoutMs
    this.#deadline = setTimeout(() => {
      this.end(new GloveboxError("MODEL_TIMEOUT", `The model did not answer within ${timeoutMs} ms.`))
    }, timeoutMs)
    this.#unwatch = signal ? watchAbort(signal, (reason) => this.end(reason)) : undefined
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get remainingMs(): number {
    return this.#endsAt - Date.now()
  }

  end(reason: unknown): void {
    this.#controller.abort(reason)
  }

  /** Waits for the next part of a stream, but not through a silence of more than this. */
  async next<T>(part: Promise<T>, idleTimeoutMs: number | undefined): Promise<T> {
    if (idleTimeoutMs === undefined) return abortable(part, this.signal)
    const timer = setTimeout(() => {
      this.end(
        new GloveboxError("MODEL_TIMEOUT", `The model's stream brought nothing for ${idleTimeoutMs} ms.`),
      )
    }, idleTimeoutMs)
    try {
      return await abortable(part, this.signal)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Closes the connection, if it is still open. */
  [Symbol.dispose](): void {
    clearTimeout(this.#deadline)
    this.#unwatch?.()
    this.end(new Error("The call is over."))
  }
}
