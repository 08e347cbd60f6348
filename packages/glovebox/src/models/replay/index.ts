export {
  type ReplayCall,
  ReplayChatCompletionClient,
  type ReplayChatCompletionClientOptions,
} from "./replay-chat-completion-client.ts"
export type { ReplayResponse } from "./replay-response.ts"
