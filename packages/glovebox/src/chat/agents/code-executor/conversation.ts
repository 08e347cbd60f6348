import { z } from "zod"
import { GloveboxError, type JsonObject, type JsonValue } from "../../../core/index.ts"
import { formatIssues } from "../../../internal/format-issues.ts"
import type { ChatCompletionContext } from "../../../memory/index.ts"
import type { LLMMessage } from "../../../models/index.ts"
import { type ChatMessage, toModelMessage, toModelText } from "../../messages/index.ts"
import { type SuspendedCode, suspendedCodeSchema } from "./suspended-code.ts"

const stateSchema = z.strictObject({
  version: z.literal(1),
  context: z.record(z.string(), z.unknown()),
  unfinished: z.array(z.string()),
  suspended: suspendedCodeSchema.optional(),
})

/** What an agent's model has been told; a message is taken once, also when a turn that failed is tried again. */
export class Conversation {
  readonly #context: ChatCompletionContext
  readonly #hasVision: boolean
  /** The ids of messages of a turn that has not come to its end. */
  readonly #unfinished = new Set<string>()
  #suspended: SuspendedCode | undefined

  constructor(context: ChatCompletionContext, { hasVision }: { readonly hasVision: boolean }) {
    this.#context = context
    this.#hasVision = hasVision
  }

  /** Code of the model that waits for an approval. */
  get suspended(): SuspendedCode | undefined {
    return this.#suspended
  }

  suspend(code: SuspendedCode): void {
    this.#suspended = code
  }

  /** Says what became of code, which then does not wait any more. */
  async settle(told: readonly LLMMessage[]): Promise<void> {
    this.#suspended = undefined
    for (const message of told) await this.add(message)
  }

  async take(messages: readonly ChatMessage[]): Promise<void> {
    for (const message of messages) {
      if (this.#unfinished.has(message.id)) continue
      for (const said of this.#toModel(message)) await this.add(said)
      this.#unfinished.add(message.id)
    }
  }

  async add(message: LLMMessage): Promise<void> {
    await this.#context.addMessage(message)
  }

  async messages(): Promise<LLMMessage[]> {
    return this.#context.getMessages()
  }

  /** The turn has its answer. */
  finish(): void {
    this.#unfinished.clear()
  }

  async clear(): Promise<void> {
    this.#unfinished.clear()
    this.#suspended = undefined
    await this.#context.clear()
  }

  async saveState(): Promise<JsonObject> {
    return {
      version: 1,
      context: await this.#context.saveState(),
      unfinished: [...this.#unfinished],
      ...(this.#suspended && { suspended: { ...this.#suspended } }),
    }
  }

  async loadState(state: JsonValue): Promise<void> {
    const { data, error } = stateSchema.safeParse(state)
    if (error) {
      throw new GloveboxError(
        "STATE_INVALID",
        `This is no state of a CodeExecutorAgent with a model: ${formatIssues(error.issues)}`,
      )
    }
    await this.#context.loadState(data.context)
    this.#unfinished.clear()
    for (const id of data.unfinished) this.#unfinished.add(id)
    this.#suspended = data.suspended
  }

  #toModel(message: ChatMessage): LLMMessage[] {
    const whole = toModelMessage(message)
    const said = this.#hasVision ? whole : { ...whole, content: toModelText(message) }
    return message.type === "HandoffMessage" ? [...message.context, said] : [said]
  }
}
