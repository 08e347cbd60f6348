import { GloveboxError, type JsonObject } from "../../core/index.ts"
import { describe } from "../../internal/describe.ts"
import { type ChatItem, type ChatMessage, isChatMessage, isChunk } from "../messages/index.ts"
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
import { describeStop } from "./describe-stop.ts"

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
    return drain(this.onMessagesStream(messages, options))
  }

  async *onMessagesStream(messages: readonly ChatMessage[], options: TurnOptions): TurnStream {
    const response = await this.onMessages(messages, options)
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
    if (this.#isRunning) {
      throw new GloveboxError(
        "RUN_ACTIVE",
        `${this.name} is at work already. Wait for that run, or make another agent.`,
      )
    }
    this.#isRunning = true
    const left = new AbortController()
    const inner = signal ? AbortSignal.any([signal, left.signal]) : left.signal
    try {
      const messages: ChatItem[] = []
      if (outputTaskMessages) {
        messages.push(...given)
        yield* given
      }
      let last: Response | undefined
      for await (const item of this.onMessagesStream(given, { signal: inner })) {
        if (item.type === "Response") {
          last = item
          continue
        }
        if (!isChunk(item)) messages.push(item)
        yield item
      }
      if (!last || !isChatMessage(last.chatMessage)) throw noAnswer(this.name)
      messages.push(last.chatMessage)
      yield last.chatMessage
      const result: TaskResult = {
        type: "TaskResult",
        messages,
        ...describeStop(this.name, last),
        usage: sumUsage(messages),
      }
      yield result
      return result
    } finally {
      this.#isRunning = false
      left.abort(new GloveboxError("RUN_LEFT", `The stream of ${this.name} was left.`))
    }
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
}

function noAnswer(name: string): GloveboxError {
  return new GloveboxError(
    "AGENT_INVALID",
    `Agent ${name} ended its turn without a response. Yield one last: response(message).`,
  )
}
