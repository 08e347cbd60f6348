import { type ComponentPart, componentPart } from "../core/index.ts"
import type { ChatCompletionClient } from "./chat-completion-client.ts"

/** A model client inside another component's data. */
export const modelClientPart: ComponentPart<ChatCompletionClient> = componentPart("model client", [
  "create",
  "createStream",
  "countTokens",
  "remainingTokens",
])
