export {
  OllamaChatCompletionClient,
  ollamaChatCompletionClientComponent,
} from "./ollama-chat-completion-client.ts"
export type { OllamaChatCompletionClientOptions } from "./ollama-options.ts"
