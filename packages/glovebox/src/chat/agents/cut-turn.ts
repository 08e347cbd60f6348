import { GloveboxError } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { atMost } from "../../internal/at-most.ts"

// An agent that looks at its signal is back in less.
const MOMENT_MS = 100
// How long a turn that was cut off may go on before the next one is refused.
const LEFTOVER_MS = 5_000

/** Looks after a turn that was cut off, and that its agent may not have come back from. */
export class CutTurn {
  #turn: Promise<unknown> | undefined

  watch(turn: Promise<unknown>): void {
    const over = (): void => {
      if (this.#turn === turn) this.#turn = undefined
    }
    this.#turn = turn
    turn.then(over, over)
  }

  /** Gives its agent a moment to clear up. One that does not look at its signal holds nobody up. */
  async settle(): Promise<void> {
    if (this.#turn) await atMost(this.#turn, MOMENT_MS)
  }

  /** Waits for it before the next turn. */
  async comeBack(name: string, signal: AbortSignal): Promise<void> {
    const turn = this.#turn
    if (!turn) return
    await abortable(atMost(turn, LEFTOVER_MS), signal)
    if (this.#turn !== turn) return
    throw new GloveboxError(
      "RUN_ACTIVE",
      `${name} still works on a turn that was cancelled: it does not look at its signal.`,
    )
  }
}
