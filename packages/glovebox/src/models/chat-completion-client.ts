import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec"
import type { JsonObject } from "../core/index.ts"
import type { CreateResult, RequestUsage } from "./create-result.ts"
import type { LLMMessage } from "./messages.ts"
import type { ModelInfo } from "./model-info.ts"
import type { ToolChoice, ToolLike } from "./tool-schema.ts"

/** A schema that the answer has to fit: zod's, any other that gives JSON Schema, or JSON Schema itself. */
export type OutputSchema =
  | (StandardSchemaV1 & StandardJSONSchemaV1)
  | { readonly name: string; readonly schema: Readonly<Record<string, unknown>>; readonly strict?: boolean }

export interface CreateOptions {
  /** Tools the model may call. @default [] */
  readonly tools?: readonly ToolLike[] | undefined
  /** @default "auto" */
  readonly toolChoice?: ToolChoice | undefined
  /** True: the answer is JSON; a schema: it is JSON that fits. The text is not parsed. @default false */
  readonly jsonOutput?: boolean | OutputSchema | undefined
  /** Fields of the request in the provider's own names, added as they are. @default {} */
  readonly extraCreateArgs?: JsonObject | undefined
  /** Ends the call and closes its connection; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** A number of tokens, and how it was found. */
export interface TokenCount {
  readonly tokens: number
  /** The tokenizer that counted, such as "gpt-tokenizer o200k_base"; or "estimate". */
  readonly tokenizer: string
}

export interface CountOptions {
  /** Tools that will go with the messages. @default [] */
  readonly tools?: readonly ToolLike[] | undefined
}

/** A model behind whatever provider. */
export interface ChatCompletionClient extends AsyncDisposable {
  readonly modelInfo: ModelInfo
  /** What decides on the answer besides the messages: provider, model, address, options. Never a key. */
  readonly identity: JsonObject

  create(messages: readonly LLMMessage[], options?: CreateOptions): Promise<CreateResult>

  /** Yields the text piece by piece and, as the last item, the result; leaving the loop ends the call. */
  createStream(
    messages: readonly LLMMessage[],
    options?: CreateOptions,
  ): AsyncGenerator<string | CreateResult, CreateResult>

  countTokens(messages: readonly LLMMessage[], options?: CountOptions): Promise<TokenCount>

  /** What is left of the context for more messages and the answer; below zero when they are too many. */
  remainingTokens(messages: readonly LLMMessage[], options?: CountOptions): Promise<number>

  /** What this client's calls have used. */
  actualUsage(): RequestUsage

  /** The same, and what stored answers had used. */
  totalUsage(): RequestUsage

  /** Ends the calls under way and refuses new ones. */
  close(): Promise<void>
}
