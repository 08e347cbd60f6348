import type { ComponentDefinition } from "../core/index.ts"
import { BufferedChatCompletionContext } from "./buffered-chat-completion-context.ts"
import { HeadAndTailChatCompletionContext } from "./head-and-tail-chat-completion-context.ts"
import { ListMemory } from "./list-memory.ts"
import { TokenLimitedChatCompletionContext } from "./token-limited-chat-completion-context.ts"
import { UnboundedChatCompletionContext } from "./unbounded-chat-completion-context.ts"

/** Everything of this folder that can be made from data. */
export const memoryComponents: readonly ComponentDefinition<never>[] = [
  BufferedChatCompletionContext.definition,
  HeadAndTailChatCompletionContext.definition,
  TokenLimitedChatCompletionContext.definition,
  UnboundedChatCompletionContext.definition,
  ListMemory.definition,
]
