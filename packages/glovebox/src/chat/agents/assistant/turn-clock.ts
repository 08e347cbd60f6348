import { GloveboxError } from "../../../core/index.ts"
import { LinkedAbort } from "../../../internal/linked-abort.ts"
import { formatDuration } from "../../../policy/index.ts"

/** The time of a turn: its signal aborts when the turn is cancelled, left, or over time. */
export class TurnClock {
  readonly #end: LinkedAbort
  readonly #timer: NodeJS.Timeout | undefined
  #timeout: GloveboxError | undefined

  constructor(name: string, limitMs: number | undefined, cancelled: AbortSignal) {
    this.#end = new LinkedAbort(cancelled)
    if (limitMs === undefined) return
    this.#timer = setTimeout(() => {
      const message = `The time of ${formatDuration(limitMs)} for the turn of ${name} is over.`
      this.#timeout = new GloveboxError("TURN_TIMEOUT", message)
      this.#end.abort(this.#timeout)
    }, limitMs)
  }

  get signal(): AbortSignal {
    return this.#end.signal
  }

  /** True for what everything that waits is told when the time is over. */
  isTimeout(error: unknown): boolean {
    return error !== undefined && error === this.#timeout
  }

  /** After the end of a turn: nothing runs any more. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#end.unlink()
  }

  /** In the middle of a turn: ends what runs. */
  leave(): void {
    this.stop()
    this.#end.abort(new GloveboxError("RUN_LEFT", "The turn was left."))
  }
}
