import { randomUUID } from "node:crypto"
import {
  type AgentId,
  type AgentRuntime,
  GloveboxError,
  type Message,
  type MessageType,
} from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { ExecutorControl, ExecutorState } from "./messages.ts"
import { type FarExecutor, readDescription } from "./read-description.ts"

/** How a far end is asked. */
export interface Ask<Fields extends object, Name extends string> {
  readonly expect: MessageType<Fields, never, Name>
  readonly signal?: AbortSignal | undefined
  /** @default the far end's whole time */
  readonly timeoutMs?: number | undefined
}

// Whoever stops has no use for the far end any more, and waits for a silent one only so long.
const STOP_MS = 5_000

/** The agent that runs code for one key, as a client sees it. */
export class FarEnd {
  readonly id: AgentId
  readonly #runtime: AgentRuntime
  readonly #replyTimeoutMs: number

  constructor(runtime: AgentRuntime, id: AgentId, replyTimeoutMs: number) {
    this.id = id
    this.#runtime = runtime
    this.#replyTimeoutMs = replyTimeoutMs
  }

  /** How long the far end is asked to wait for something to tell: well within the time it has to answer. */
  get waitMs(): number {
    return Math.min(10_000, Math.floor(this.#replyTimeoutMs / 3))
  }

  async ask<Fields extends object, Name extends string>(
    message: Message,
    { expect, signal, timeoutMs = this.#replyTimeoutMs }: Ask<Fields, Name>,
  ): Promise<Message<Fields, Name>> {
    const send = (): Promise<Message<Fields, Name>> =>
      this.#runtime.send(message, this.id, { expect, signal, timeoutMs })
    try {
      return await send()
    } catch (error) {
      // Its agent was taken out just now, and did not see the message: the next one builds another.
      if (!GloveboxError.is(error, "AGENT_UNKNOWN") || signal?.aborted === true) throw error
      return send()
    }
  }

  /** Asks until it is done: each answer comes soon, however long it takes. */
  async control(action: "start" | "stop" | "restart", signal?: AbortSignal): Promise<FarExecutor> {
    const timeoutMs = action === "stop" ? Math.min(STOP_MS, this.#replyTimeoutMs) : this.#replyTimeoutMs
    const waitMs = Math.min(this.waitMs, Math.floor(timeoutMs / 3))
    const request = ExecutorControl({ id: randomUUID(), action, waitMs })
    const ask = { expect: ExecutorState, signal, timeoutMs }
    for (;;) {
      const askedAt = performance.now()
      const { done, instance, description } = await this.ask(request, ask)
      if (done && description) return readDescription(instance, description)
      if (done) throw new GloveboxError("REPLY_INVALID", "The far end does not say what it is.")
      await withoutHaste(askedAt, signal)
    }
  }
}

// A far end that says again and again that it has nothing to say is asked more slowly.
const HASTY_MS = 50

/** Waits a little after an answer that came at once and said nothing. */
export async function withoutHaste(askedAt: number, signal?: AbortSignal): Promise<void> {
  if (performance.now() - askedAt >= HASTY_MS) return
  await abortable(new Promise((resolve) => setTimeout(resolve, HASTY_MS)), signal)
}

const GONE = [
  "AGENT_TYPE_UNKNOWN",
  "AGENT_UNKNOWN",
  "CONNECTION_LOST",
  "HOST_UNAVAILABLE",
  "RUNTIME_STOPPED",
  "SEND_TIMEOUT",
  "WORKER_LOST",
] as const

/** Whether the far end, or the way to it, is no longer there; it ends by itself what nobody asks for. */
export function isGone(error: unknown): boolean {
  return GONE.some((code) => GloveboxError.is(error, code))
}
