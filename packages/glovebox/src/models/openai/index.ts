export {
  AzureOpenAIChatCompletionClient,
  azureOpenAIChatCompletionClientComponent,
} from "./azure-openai-chat-completion-client.ts"
export type { AzureOpenAIChatCompletionClientOptions } from "./azure-options.ts"
export {
  OpenAIChatCompletionClient,
  openAIChatCompletionClientComponent,
} from "./openai-chat-completion-client.ts"
export type { OpenAIChatCompletionClientOptions, OpenAIRequestOptions } from "./openai-options.ts"
