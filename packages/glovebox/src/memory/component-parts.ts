import { type ComponentPart, componentPart } from "../core/index.ts"
import type { ChatCompletionContext } from "./chat-completion-context.ts"
import type { Memory } from "./memory.ts"

/** A model context inside another component's data. */
export const contextPart: ComponentPart<ChatCompletionContext> = componentPart("model context", [
  "addMessage",
  "getMessages",
  "saveState",
])

/** A memory inside another component's data. */
export const memoryPart: ComponentPart<Memory> = componentPart("memory", ["query", "updateContext", "clear"])
