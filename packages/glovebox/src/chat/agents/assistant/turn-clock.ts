import { GloveboxError } from "../../../core/index.ts"
import { LinkedAbort } from "../../../internal/linked-abort.ts"
import { formatDuration } from "../../../policy/index.ts"

/** The time of a turn. */
export class TurnClock {
  readonly #cancelled: AbortSignal
  readonly #timer: NodeJS.Timeout | undefined
  #end: LinkedAbort | undefined
  #timeout: GloveboxError | undefined

  constructor(name: string, limitMs: number | undefined, cancelled: AbortSignal) {
    this.#cancelled = cancelled
    if (limitMs === undefined) return
    this.#timer = setTimeout(() => {
      const message = `The time of ${formatDuration(limitMs)} for the turn of ${name} is over.`
      this.#timeout = new GloveboxError("TURN_TIMEOUT", message)
      this.#linked().abort(this.#timeout)
    }, limitMs)
  }

  /** Aborts when the turn is cancelled, left, or over time. */
  get signal(): AbortSignal {
    return this.#linked().signal
  }

  /** For the wait for a model, in which a turn cannot be left; a signal of its own costs more than the rest of a turn. */
  get modelSignal(): AbortSignal {
    return this.#timer === undefined ? this.#cancelled : this.signal
  }

  /** True for what everything that waits is told when the time is over. */
  isTimeout(error: unknown): boolean {
    return error !== undefined && error === this.#timeout
  }

  /** After the end of a turn: nothing runs any more. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#end?.unlink()
  }

  /** In the middle of a turn: ends what runs. */
  leave(): void {
    this.stop()
    this.#end?.abort(new GloveboxError("RUN_LEFT", "The turn was left."))
  }

  #linked(): LinkedAbort {
    return (this.#end ??= new LinkedAbort(this.#cancelled))
  }
}
