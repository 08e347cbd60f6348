import { z } from "zod"
import { GloveboxError, type JsonObject } from "../core/index.ts"
import { formatIssues } from "../internal/format-issues.ts"
import { type LLMMessage, llmMessageSchema } from "../models/index.ts"
import type { ChatCompletionContext } from "./chat-completion-context.ts"
import { messageLogConfig } from "./message-log-config.ts"
import { MessageUnits } from "./message-units.ts"

const stateSchema = z.object({ version: z.literal(1), messages: z.array(llmMessageSchema) })

export interface MessageLogOptions {
  /** What every conversation begins with, also after `clear()`. @default [] */
  readonly initialMessages?: readonly LLMMessage[] | undefined
}

/** Keeps all messages; each context shows another part of them. */
export abstract class MessageLog implements ChatCompletionContext {
  readonly #initial: readonly LLMMessage[]
  #messages: LLMMessage[]
  #units = new MessageUnits()
  /** How many of the messages the units have seen. */
  #seen = 0

  constructor({ initialMessages = [] }: MessageLogOptions = {}) {
    this.#initial = initialMessages.map(read)
    this.#messages = [...this.#initial]
  }

  async addMessage(message: LLMMessage): Promise<void> {
    this.#messages.push(read(message))
  }

  async getMessages(): Promise<LLMMessage[]> {
    return [...(await this.select(this.#messages, () => this.#cut()))]
  }

  async clear(): Promise<void> {
    this.#replace([...this.#initial])
  }

  async saveState(): Promise<JsonObject> {
    return structuredClone({ version: 1, messages: this.#messages }) as unknown as JsonObject
  }

  async loadState(state: unknown): Promise<void> {
    const { data, error } = stateSchema.safeParse(state)
    if (error) {
      throw new GloveboxError(
        "STATE_INVALID",
        `This is no state of a model context: ${formatIssues(error.issues)}`,
      )
    }
    this.#replace(data.messages)
  }

  /** The messages that the model is shown: of all of them, or of the units that they make up. */
  protected abstract select(
    messages: readonly LLMMessage[],
    units: () => MessageUnits,
  ): readonly LLMMessage[] | Promise<readonly LLMMessage[]>

  /** What the data of a component has of it: what it began with, and not what was said since. */
  protected config(): ReturnType<typeof messageLogConfig> {
    return messageLogConfig(this.#initial)
  }

  // Only when they are asked for, and only those that are new.
  #cut(): MessageUnits {
    for (; this.#seen < this.#messages.length; this.#seen += 1) {
      const message = this.#messages[this.#seen]
      if (message) this.#units.add(message)
    }
    return this.#units
  }

  #replace(messages: LLMMessage[]): void {
    this.#messages = messages
    this.#units = new MessageUnits()
    this.#seen = 0
  }
}

function read(message: LLMMessage): LLMMessage {
  const { error } = llmMessageSchema.safeParse(message)
  if (!error) return message
  throw new GloveboxError("MESSAGE_INVALID", `This is no message to a model: ${formatIssues(error.issues)}`)
}
