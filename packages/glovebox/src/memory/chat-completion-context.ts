import type { JsonObject } from "../core/index.ts"
import type { LLMMessage } from "../models/index.ts"

/** The conversation an agent keeps, and the part of it that its model is shown. */
export interface ChatCompletionContext {
  addMessage(message: LLMMessage): Promise<void>

  /** What the model is shown: a list of its own, in which a call and its results stay together. */
  getMessages(): Promise<LLMMessage[]>

  /** Forgets everything but the messages it began with. */
  clear(): Promise<void>

  saveState(): Promise<JsonObject>

  loadState(state: unknown): Promise<void>
}
