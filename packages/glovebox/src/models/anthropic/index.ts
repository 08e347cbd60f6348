export {
  AnthropicChatCompletionClient,
  anthropicChatCompletionClientComponent,
} from "./anthropic-chat-completion-client.ts"
export type { AnthropicChatCompletionClientOptions } from "./anthropic-options.ts"
