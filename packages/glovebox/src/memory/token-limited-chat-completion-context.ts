import { GloveboxError } from "../core/index.ts"
import type { ChatCompletionClient, CountOptions, LLMMessage } from "../models/index.ts"
import { checkSize } from "./check-size.ts"
import { MessageLog, type MessageLogOptions } from "./message-log.ts"
import { type MessageUnit, toUnits } from "./message-units.ts"

export interface TokenLimitedChatCompletionContextOptions extends MessageLogOptions {
  /** Counts the tokens, with its tokenizer or by an estimate: its `countTokens` says which. */
  readonly modelClient: ChatCompletionClient
  /** The most tokens that are shown. @default what the model takes */
  readonly tokenLimit?: number | undefined
  /** Tools that go with the messages, and count. @default [] */
  readonly tools?: CountOptions["tools"]
}

/** Shows as much as fits a number of tokens: it leaves out from the middle, and never system messages or the last words. */
export class TokenLimitedChatCompletionContext extends MessageLog {
  readonly #client: ChatCompletionClient
  readonly #limit: number | undefined
  readonly #tools: CountOptions["tools"]

  constructor({ modelClient, tokenLimit, tools, ...options }: TokenLimitedChatCompletionContextOptions) {
    super(options)
    this.#client = modelClient
    this.#limit = tokenLimit === undefined ? undefined : checkSize("tokenLimit", tokenLimit)
    this.#tools = tools
  }

  protected override async select(messages: readonly LLMMessage[]): Promise<readonly LLMMessage[]> {
    const units = toUnits(messages)
    const order = removalOrder(units)
    // Each one left out makes it smaller, so that half of the rest can be ruled out each time.
    let [fewest, most] = [0, order.length]
    if (!(await this.#fits(without(units, order, most)))) throw this.#overflow()
    while (fewest < most) {
      const middle = Math.floor((fewest + most) / 2)
      if (await this.#fits(without(units, order, middle))) most = middle
      else fewest = middle + 1
    }
    return without(units, order, most)
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

/** The units that may go, the one in the middle first; ties go to the earlier. */
function removalOrder(units: readonly MessageUnit[]): number[] {
  const middle = (units.length - 1) / 2
  return units
    .map((_unit, index) => index)
    .filter((index) => index !== units.length - 1 && units[index]?.[0]?.type !== "SystemMessage")
    .toSorted((a, b) => Math.abs(a - middle) - Math.abs(b - middle) || a - b)
}

function without(units: readonly MessageUnit[], order: readonly number[], count: number): LLMMessage[] {
  const gone = new Set(order.slice(0, count))
  return units.filter((_unit, index) => !gone.has(index)).flat()
}
