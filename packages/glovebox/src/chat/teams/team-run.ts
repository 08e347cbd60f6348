import { GloveboxError } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { AsyncQueue } from "../../internal/async-queue.ts"
import type { RequestUsage } from "../../models/index.ts"
import { type ChatItem, isChunk } from "../messages/index.ts"
import { NO_USAGE, type RunStream, type TaskResult, addUsage } from "../task/index.ts"
import type { TurnGate } from "./turn-gate.ts"

// So many items may wait for the reader before the agents wait for it too.
const MOST_WAITING = 1024

/** How a run ended; its usage is what no item of it tells of. */
export type RunEnd = Omit<TaskResult, "type" | "messages">

/** One run of a team as its reader sees it. */
export class TeamRun {
  readonly #queue: AsyncQueue<ChatItem | TaskResult>
  readonly #left = new AbortController()
  readonly #gate: TurnGate
  readonly #task: ReadonlySet<string>
  readonly #messages: ChatItem[] = []
  #isRead = false
  #usage: RequestUsage = NO_USAGE
  readonly signal: AbortSignal

  constructor(gate: TurnGate, task: readonly ChatItem[], signal: AbortSignal | undefined) {
    this.#gate = gate
    this.#task = new Set(task.map(({ id }) => id))
    this.#queue = new AsyncQueue({ limit: MOST_WAITING })
    this.signal = signal ? AbortSignal.any([signal, this.#left.signal]) : this.#left.signal
  }

  /** Takes an item; a promise resolves when the reader has room for more. */
  take(item: ChatItem): Promise<void> | undefined {
    if (!isChunk(item)) {
      this.#messages.push(item)
      // What the task tells of was used before this run.
      if (!this.#task.has(item.id)) this.#usage = addUsage(this.#usage, item.modelsUsage)
    }
    if (!this.#isRead || this.#queue.push(item)) return undefined
    return this.#room()
  }

  leave(reason: unknown): void {
    this.#left.abort(reason)
  }

  /** Yields what is taken while the work goes on, and its result; leaving ends the work and waits for it. */
  async *follow(begin: () => Promise<RunEnd>): RunStream {
    this.#isRead = true
    const settled = begin().then(
      (end) => {
        const result = this.#result(end)
        this.#queue.push(result)
        this.#queue.close()
        return result
      },
      (error: unknown) => {
        this.#queue.fail(this.signal.aborted ? this.signal.reason : error)
        return undefined
      },
    )
    const unwatch = this.#endAtAbort()
    try {
      for await (const item of this.#queue) {
        // What is queued is not worth reading when the run was cancelled.
        this.signal.throwIfAborted()
        yield item
      }
      const result = await settled
      if (result) return result
      throw new GloveboxError("AGENT_FAILED", "The run ended without a result.")
    } finally {
      unwatch()
      this.#left.abort(new GloveboxError("RUN_LEFT", "The stream of the run was left."))
      await settled
    }
  }

  /** The result alone: nothing is told meanwhile. */
  async whole(begin: () => Promise<RunEnd>): Promise<TaskResult> {
    try {
      return this.#result(await begin())
    } catch (error) {
      throw this.signal.aborted ? this.signal.reason : error
    } finally {
      this.#left.abort(new GloveboxError("RUN_LEFT", "The run is over."))
    }
  }

  #result(end: RunEnd): TaskResult {
    const usage = addUsage(this.#usage, end.usage)
    return { type: "TaskResult", messages: this.#messages, ...end, usage }
  }

  async #room(): Promise<void> {
    const waited = new AbortController()
    try {
      // Whoever saves the state in the reading loop waits for the turn to end, so the turn may not wait for the loop.
      const held = this.#gate.held(waited.signal)
      await abortable(Promise.race([this.#queue.room(), held]), this.signal)
    } finally {
      waited.abort()
    }
  }

  #endAtAbort(): () => void {
    const { signal } = this
    const onAbort = (): void => this.#queue.fail(signal.reason)
    signal.addEventListener("abort", onAbort, { once: true })
    return () => signal.removeEventListener("abort", onAbort)
  }
}
