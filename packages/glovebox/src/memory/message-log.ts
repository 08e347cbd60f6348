import { z } from "zod"
import { GloveboxError, type JsonObject } from "../core/index.ts"
import { formatIssues } from "../internal/format-issues.ts"
import { type LLMMessage, llmMessageSchema } from "../models/index.ts"
import type { ChatCompletionContext } from "./chat-completion-context.ts"

const stateSchema = z.object({ version: z.literal(1), messages: z.array(llmMessageSchema) })

export interface MessageLogOptions {
  /** What every conversation begins with, also after `clear()`. @default [] */
  readonly initialMessages?: readonly LLMMessage[] | undefined
}

/** Keeps all messages; each context shows another part of them. */
export abstract class MessageLog implements ChatCompletionContext {
  readonly #initial: readonly LLMMessage[]
  #messages: LLMMessage[]

  constructor({ initialMessages = [] }: MessageLogOptions = {}) {
    this.#initial = initialMessages.map(read)
    this.#messages = [...this.#initial]
  }

  async addMessage(message: LLMMessage): Promise<void> {
    this.#messages.push(read(message))
  }

  async getMessages(): Promise<LLMMessage[]> {
    return [...(await this.select(this.#messages))]
  }

  async clear(): Promise<void> {
    this.#messages = [...this.#initial]
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
    this.#messages = data.messages
  }

  /** The messages that the model is shown. */
  protected abstract select(
    messages: readonly LLMMessage[],
  ): readonly LLMMessage[] | Promise<readonly LLMMessage[]>
}

function read(message: LLMMessage): LLMMessage {
  const { error } = llmMessageSchema.safeParse(message)
  if (!error) return message
  throw new GloveboxError("MESSAGE_INVALID", `This is no message to a model: ${formatIssues(error.issues)}`)
}
