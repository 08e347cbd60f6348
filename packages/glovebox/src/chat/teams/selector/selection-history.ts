import { abortable } from "../../../internal/abortable.ts"
import type { ChatCompletionContext } from "../../../memory/index.ts"
import type { LLMMessage } from "../../../models/index.ts"
import { type ChatItem, isChatMessage, toModelMessage } from "../../messages/index.ts"

/** The conversation as the selecting model is shown it: what is new is added, and nothing twice. */
export class SelectionHistory {
  readonly #context: ChatCompletionContext
  /** How much of the thread the context has. */
  #taken = 0

  constructor(context: ChatCompletionContext) {
    this.#context = context
  }

  async read(thread: readonly ChatItem[], signal: AbortSignal): Promise<readonly LLMMessage[]> {
    for (; this.#taken < thread.length; this.#taken += 1) {
      const item = thread[this.#taken]
      if (isChatMessage(item)) await this.#context.addMessage(toModelMessage(item))
    }
    return abortable(this.#context.getMessages(), signal)
  }

  /** Forgets it; the next reading takes the thread from its beginning. */
  async clear(): Promise<void> {
    this.#taken = 0
    await this.#context.clear()
  }
}
