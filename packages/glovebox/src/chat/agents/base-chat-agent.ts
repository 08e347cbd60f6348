import { GloveboxError, type JsonObject } from "../../core/index.ts"
import { describe } from "../../internal/describe.ts"
import { type ChatItem, type ChatMessage, isChunk } from "../messages/index.ts"
import {
  type Response,
  type RunOptions,
  type RunStream,
  type Task,
  type TaskResult,
  drain,
  readTask,
  sumUsage,
} from "../task/index.ts"
import { checkAgentName } from "./agent-name.ts"
import type { ChatAgent, TurnOptions, TurnStream } from "./chat-agent.ts"
import { CutTurn } from "./cut-turn.ts"
import { describeStop, describeSuspension } from "./describe-stop.ts"
import { checkResponse, nextOrPending, readTurn } from "./read-turn.ts"

/**
 * The base of agents: override `onMessages`, or `onMessagesStream` to tell what happens meanwhile.
 *
 * @example
 * class Echo extends BaseChatAgent {
 *   override async onMessages(messages: readonly ChatMessage[]): Promise<Response> {
 *     return this.reply(messages.map(toText).join("\n"))
 *   }
 * }
 */
export abstract class BaseChatAgent implements ChatAgent {
  readonly name: string
  readonly description: string
  #isRunning = false
  readonly #cutTurn = new CutTurn()

  constructor(name: string, description: string) {
    this.name = checkAgentName(name)
    if (typeof description !== "string") {
      throw new GloveboxError(
        "AGENT_INVALID",
        `The description of ${name} is ${describe(description)}, not a text.`,
      )
    }
    this.description = description
    const base = BaseChatAgent.prototype
    if (this.onMessages === base.onMessages && this.onMessagesStream === base.onMessagesStream) {
      throw new GloveboxError(
        "AGENT_INVALID",
        `${new.target.name} answers nothing. Override onMessages or onMessagesStream.`,
      )
    }
  }

  get producedMessageTypes(): readonly string[] {
    return ["TextMessage"]
  }

  async onMessages(messages: readonly ChatMessage[], options: TurnOptions): Promise<Response> {
    const { response } = await drain(readTurn(this.name, this.onMessagesStream(messages, options)))
    return response
  }

  async *onMessagesStream(messages: readonly ChatMessage[], options: TurnOptions): TurnStream {
    const response = checkResponse(this.name, await this.onMessages(messages, options))
    for (const item of response.innerMessages) yield item
    yield response
    return response
  }

  async run(task?: Task, options?: RunOptions): Promise<TaskResult> {
    return drain(this.runStream(task, options))
  }

  async *runStream(task?: Task, { signal, outputTaskMessages = true }: RunOptions = {}): RunStream {
    const given = readTask(task)
    signal?.throwIfAborted()
    this.#checkIdle()
    this.#isRunning = true
    const left = new AbortController()
    const inner = signal ? AbortSignal.any([signal, left.signal]) : left.signal
    let turn: ReturnType<typeof readTurn> | undefined
    try {
      await this.#cutTurn.comeBack(this.name, inner)
      const task = outputTaskMessages ? given : []
      yield* task
      turn = readTurn(this.name, this.onMessagesStream(given, { signal: inner }))
      const told: ChatItem[] = []
      for (;;) {
        const next = await nextOrPending(turn, inner)
        if (!("pending" in next) && next.done !== true) {
          if (!isChunk(next.value)) told.push(next.value)
          yield next.value
          continue
        }
        const result: TaskResult = {
          type: "TaskResult",
          messages: [...task, ...told],
          ...("pending" in next
            ? describeSuspension(this.name, next.pending)
            : describeStop(this.name, next.value.response)),
          usage: sumUsage(told),
        }
        yield result
        return result
      }
    } finally {
      left.abort(new GloveboxError("RUN_LEFT", `The stream of ${this.name} was left.`))
      if (turn) this.#cutTurn.watch(turn.return(undefined as never))
      await this.#cutTurn.settle()
      this.#isRunning = false
    }
  }

  /**
   * Waits for a turn that was cut off, before the agent is reset or given another state.
   * @throws RUN_ACTIVE while it is at work
   */
  async whenIdle(signal: AbortSignal): Promise<void> {
    this.#checkIdle()
    await this.#cutTurn.comeBack(this.name, signal)
  }

  async onReset(_options: TurnOptions): Promise<void> {}
  async onPause(): Promise<void> {}
  async onResume(): Promise<void> {}

  async saveState(): Promise<JsonObject> {
    return {}
  }

  async loadState(state: JsonObject): Promise<void> {
    const fields = Object.keys(state)
    if (fields.length === 0) return
    throw new GloveboxError(
      "STATE_INVALID",
      `Agent ${this.name} keeps no state but was given ${fields.join(", ")}. Override saveState and loadState together.`,
    )
  }

  async close(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #checkIdle(): void {
    if (!this.#isRunning) return
    throw new GloveboxError(
      "RUN_ACTIVE",
      `${this.name} is at work already. Wait for that run, or make another agent.`,
    )
  }
}
