import type { JsonObject } from "../core/index.ts"
import type { CountOptions, TokenCount } from "./chat-completion-client.ts"
import type { CreateResult } from "./create-result.ts"
import type { LLMMessage } from "./messages.ts"
import type { FailureContext, ModelFailure } from "./model-failure.ts"
import type { ModelInfo } from "./model-info.ts"
import type { ModelRequest } from "./model-request.ts"

/** The part of a client that differs by provider: one attempt at a request that has been checked. */
export interface ModelBackend {
  readonly modelInfo: ModelInfo
  readonly identity: JsonObject
  readonly context: FailureContext
  complete(request: ModelRequest, signal: AbortSignal): Promise<CreateResult>
  /** Yields text, and returns the result. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<string, CreateResult>
  /** Reads what one of the two threw; an error that is ours already is passed on before. */
  failureOf(error: unknown): ModelFailure
  countTokens(messages: readonly LLMMessage[], options: CountOptions): Promise<TokenCount>
}
