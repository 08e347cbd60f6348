import { z } from "zod"
import {
  type Component,
  type ComponentDefinition,
  type ComponentModel,
  GloveboxError,
  defineComponent,
} from "../core/index.ts"
import {
  type ChatCompletionClient,
  type CountOptions,
  type LLMMessage,
  type ToolLike,
  type ToolSchema,
  modelClientPart,
} from "../models/index.ts"
import { checkSize } from "./check-size.ts"
import { largestThatFits } from "./largest-that-fits.ts"
import { MessageLog, type MessageLogOptions } from "./message-log.ts"
import { messageLogConfigShape, messageLogOptions } from "./message-log-config.ts"
import type { MessageUnits } from "./message-units.ts"
import { MiddleCut } from "./middle-cut.ts"

export interface TokenLimitedChatCompletionContextOptions extends MessageLogOptions {
  /** Counts the tokens, with its tokenizer or by an estimate: its `countTokens` says which. */
  readonly modelClient: ChatCompletionClient
  /** The most tokens that are shown. @default what the model takes */
  readonly tokenLimit?: number | undefined
  /** Tools that go with the messages, and count. @default [] */
  readonly tools?: CountOptions["tools"]
}

const configSchema = z.object({
  model_client: z.unknown(),
  token_limit: z.int().positive().nullish(),
  tool_schema: z
    .array(
      z.object({
        name: z.string(),
        description: z.string().nullish(),
        parameters: z.record(z.string(), z.unknown()).nullish(),
        strict: z.boolean().nullish(),
      }),
    )
    .nullish(),
  ...messageLogConfigShape,
})

/** Shows as much as fits a number of tokens: it leaves out from the middle, and never system messages or the last words. */
export class TokenLimitedChatCompletionContext extends MessageLog implements Component {
  static readonly definition: ComponentDefinition<
    z.input<typeof configSchema>,
    TokenLimitedChatCompletionContext
  > = defineComponent({
    provider: "glovebox.memory.TokenLimitedChatCompletionContext",
    aliases: ["autogen_core.model_context.TokenLimitedChatCompletionContext"],
    type: "chat_completion_context",
    config: configSchema,
    create: ({ model_client, token_limit, tool_schema, ...config }, loader) =>
      new TokenLimitedChatCompletionContext({
        modelClient: modelClientPart.load(model_client, loader),
        tokenLimit: token_limit ?? undefined,
        tools: tool_schema?.map(({ name, description, parameters, strict }): ToolSchema => ({
          name,
          description: description ?? undefined,
          parameters: parameters ?? undefined,
          strict: strict ?? undefined,
        })),
        ...messageLogOptions(config),
      }),
  })

  readonly #client: ChatCompletionClient
  readonly #limit: number | undefined
  readonly #tools: CountOptions["tools"]
  /** How many units stayed last time; it is about as many the next time. */
  #kept = 0

  constructor({ modelClient, tokenLimit, tools, ...options }: TokenLimitedChatCompletionContextOptions) {
    super(options)
    this.#client = modelClient
    this.#limit = tokenLimit === undefined ? undefined : checkSize("tokenLimit", tokenLimit)
    this.#tools = tools
  }

  toComponent(): ComponentModel {
    return TokenLimitedChatCompletionContext.definition.dump({
      model_client: modelClientPart.dump(this.#client, "modelClient"),
      token_limit: this.#limit,
      tool_schema: this.#tools?.map(schemaOf),
      ...this.config(),
    })
  }

  protected override async select(
    _messages: readonly LLMMessage[],
    units: () => MessageUnits,
  ): Promise<readonly LLMMessage[]> {
    const cut = new MiddleCut(units().outline())
    // Each one that stays makes it larger.
    const kept = await largestThatFits(cut.removable, this.#kept, async (count) =>
      this.#fits(cut.keeping(count)),
    )
    if (kept === undefined) throw this.#overflow()
    this.#kept = kept
    return cut.keeping(kept)
  }

  async #fits(messages: readonly LLMMessage[]): Promise<boolean> {
    const options = { tools: this.#tools }
    if (this.#limit === undefined) return (await this.#client.remainingTokens(messages, options)) >= 0
    return (await this.#client.countTokens(messages, options)).tokens <= this.#limit
  }

  #overflow(): GloveboxError {
    const limit = this.#limit === undefined ? "what the model takes" : `${this.#limit} tokens`
    return new GloveboxError(
      "CONTEXT_OVERFLOW",
      `The system messages and the last message alone are more than ${limit}. Raise the limit, or shorten them.`,
    )
  }
}

function schemaOf(tool: ToolLike): {
  name: string
  description?: string | undefined
  parameters?: Record<string, unknown> | undefined
  strict?: boolean | undefined
} {
  const { name, description, parameters, strict } = "schema" in tool ? tool.schema : tool
  return { name, description, parameters, strict }
}
