import { z } from "zod"
import {
  type ComponentDefinition,
  type ComponentModel,
  GloveboxError,
  type JsonObject,
  defineComponent,
} from "../../core/index.ts"
import { readOptions } from "../../core/read-options.ts"
import { NO_USAGE, addUsage, sumUsage } from "../task/index.ts"
import { readConditionState } from "./read-condition-state.ts"
import { type Delta, TerminationCondition } from "./termination-condition.ts"

export interface TokenUsageTerminationOptions {
  /** Tokens of requests and answers together. */
  readonly maxTotalToken?: number | undefined
  readonly maxPromptToken?: number | undefined
  readonly maxCompletionToken?: number | undefined
}

const limit = z.int().positive()
const optionsSchema = z.strictObject({
  maxTotalToken: limit.optional(),
  maxPromptToken: limit.optional(),
  maxCompletionToken: limit.optional(),
})
const configSchema = z.object({
  max_total_token: limit.nullish(),
  max_prompt_token: limit.nullish(),
  max_completion_token: limit.nullish(),
})
const count = z.number().nonnegative()
const stateSchema = z.strictObject({ promptTokens: count, completionTokens: count })

/** Fires when the models of the run have used that many tokens; at least one limit is needed. */
export class TokenUsageTermination extends TerminationCondition {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, TokenUsageTermination> =
    defineComponent({
      provider: "glovebox.conditions.TokenUsageTermination",
      aliases: ["autogen_agentchat.conditions.TokenUsageTermination"],
      type: "termination",
      config: configSchema,
      create: (config) =>
        new TokenUsageTermination({
          maxTotalToken: config.max_total_token ?? undefined,
          maxPromptToken: config.max_prompt_token ?? undefined,
          maxCompletionToken: config.max_completion_token ?? undefined,
        }),
    })

  readonly #limits: z.output<typeof optionsSchema>
  #usage = NO_USAGE

  constructor(options: TokenUsageTerminationOptions) {
    super()
    this.#limits = readOptions("TokenUsageTermination", optionsSchema, options)
    if (Object.values(this.#limits).every((value) => value === undefined)) {
      throw new GloveboxError(
        "OPTION_INVALID",
        "TokenUsageTermination has no limit. Pass maxTotalToken, maxPromptToken or maxCompletionToken.",
      )
    }
  }

  toComponent(): ComponentModel {
    const { maxTotalToken, maxPromptToken, maxCompletionToken } = this.#limits
    return TokenUsageTermination.definition.dump({
      max_total_token: maxTotalToken ?? null,
      max_prompt_token: maxPromptToken ?? null,
      max_completion_token: maxCompletionToken ?? null,
    })
  }

  protected override decide({ messages, usage, isTask }: Delta): string | undefined {
    // What a task cost was paid before the run.
    if (!isTask) this.#usage = addUsage(this.#usage, usage ?? sumUsage(messages))
    const { promptTokens, completionTokens } = this.#usage
    const { maxTotalToken, maxPromptToken, maxCompletionToken } = this.#limits
    const reached = [
      reason("tokens", promptTokens + completionTokens, maxTotalToken),
      reason("prompt tokens", promptTokens, maxPromptToken),
      reason("completion tokens", completionTokens, maxCompletionToken),
    ].filter((text) => text !== undefined)
    return reached.length === 0 ? undefined : reached.join(" ")
  }

  protected override forget(): void {
    this.#usage = NO_USAGE
  }

  protected override save(): JsonObject {
    return { ...this.#usage }
  }

  protected override load(state: JsonObject): void {
    this.#usage = readConditionState(this, stateSchema, state)
  }
}

function reason(what: string, used: number, allowed: number | undefined): string | undefined {
  return allowed !== undefined && used >= allowed
    ? `${used} ${what} are used, and ${allowed} are allowed.`
    : undefined
}
