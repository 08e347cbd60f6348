export { assistantMessage } from "./assistant-message.ts"
export type {
  ChatCompletionClient,
  CountOptions,
  CreateOptions,
  OutputSchema,
  TokenCount,
} from "./chat-completion-client.ts"
export {
  type CreateResult,
  type FinishReason,
  type RequestUsage,
  type TokenLogprob,
  type TopLogprob,
  createResultSchema,
} from "./create-result.ts"
export {
  type Image,
  type ImageMediaType,
  image,
  imageDataUri,
  imageFromBase64,
  imageSchema,
} from "./image.ts"
export {
  type LLMMessageConfig,
  llmMessageConfigSchema,
  llmMessageFromConfig,
  llmMessageToConfig,
} from "./llm-message-config.ts"
export {
  type AssistantMessage,
  type FunctionCall,
  type FunctionExecutionResult,
  type FunctionExecutionResultMessage,
  type LLMMessage,
  type SystemMessage,
  type UserMessage,
  functionCallSchema,
  llmMessageSchema,
} from "./messages.ts"
export { modelClientPart } from "./model-client-part.ts"
export { type ModelInfo, modelInfoSchema } from "./model-info.ts"
export type { ToolChoice, ToolLike, ToolSchema } from "./tool-schema.ts"
