export {
  BufferedChatCompletionContext,
  type BufferedChatCompletionContextOptions,
} from "./buffered-chat-completion-context.ts"
export type { ChatCompletionContext } from "./chat-completion-context.ts"
export {
  HeadAndTailChatCompletionContext,
  type HeadAndTailChatCompletionContextOptions,
} from "./head-and-tail-chat-completion-context.ts"
export { memoryComponents } from "./components.ts"
export { contextPart, memoryPart } from "./component-parts.ts"
export { ListMemory, type ListMemoryOptions } from "./list-memory.ts"
export type { Memory, MemoryCallOptions, MemoryContent, UpdateContextResult } from "./memory.ts"
export {
  TokenLimitedChatCompletionContext,
  type TokenLimitedChatCompletionContextOptions,
} from "./token-limited-chat-completion-context.ts"
export { UnboundedChatCompletionContext } from "./unbounded-chat-completion-context.ts"
