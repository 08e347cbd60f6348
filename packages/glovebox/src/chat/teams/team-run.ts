import { GloveboxError } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { AsyncQueue } from "../../internal/async-queue.ts"
import { type ChatItem, isChunk } from "../messages/index.ts"
import type { RunStream, TaskResult } from "../task/index.ts"
import type { TurnGate } from "./turn-gate.ts"

// So many items may wait for the reader before the agents wait for it too.
const MOST_WAITING = 1024

/** One run of a team as its reader sees it. */
export class TeamRun {
  readonly #queue: AsyncQueue<ChatItem | TaskResult>
  readonly #left = new AbortController()
  readonly #gate: TurnGate
  readonly #messages: ChatItem[] = []
  readonly signal: AbortSignal

  constructor(gate: TurnGate, signal: AbortSignal | undefined) {
    this.#gate = gate
    this.#queue = new AsyncQueue({ limit: MOST_WAITING })
    this.signal = signal ? AbortSignal.any([signal, this.#left.signal]) : this.#left.signal
  }

  /** Takes an item; resolves when the reader has room for more. */
  async take(item: ChatItem, signal: AbortSignal): Promise<void> {
    if (!isChunk(item)) this.#messages.push(item)
    if (this.#queue.push(item)) return
    // Whoever saves the state in the reading loop waits for the turn to end, so the turn may not wait for the loop.
    if (!this.#gate.isHeld) await abortable(Promise.race([this.#queue.room(), this.#gate.held()]), signal)
  }

  leave(reason: unknown): void {
    this.#left.abort(reason)
  }

  /** Yields what is taken while the work goes on, and its result; leaving ends the work and waits for it. */
  async *follow(work: Promise<Omit<TaskResult, "type" | "messages">>): RunStream {
    const settled = work.then(
      (end) => {
        const result: TaskResult = { type: "TaskResult", messages: this.#messages, ...end }
        this.#queue.push(result)
        this.#queue.close()
        return result
      },
      (error: unknown) => {
        // What is queued is not worth waiting for when the run was cancelled.
        if (this.signal.aborted) this.#queue.fail(this.signal.reason)
        else this.#queue.fail(error)
        return undefined
      },
    )
    const unwatch = this.#endAtAbort()
    try {
      for await (const item of this.#queue) yield item
      const result = await settled
      if (result) return result
      throw new GloveboxError("AGENT_FAILED", "The run ended without a result.")
    } finally {
      unwatch()
      this.#left.abort(new GloveboxError("RUN_LEFT", "The stream of the run was left."))
      await settled
    }
  }

  #endAtAbort(): () => void {
    const { signal } = this
    const onAbort = (): void => this.#queue.fail(signal.reason)
    signal.addEventListener("abort", onAbort, { once: true })
    return () => signal.removeEventListener("abort", onAbort)
  }
}
