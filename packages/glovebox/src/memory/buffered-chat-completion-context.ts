import type { LLMMessage } from "../models/index.ts"
import { checkSize } from "./check-size.ts"
import { MessageLog, type MessageLogOptions } from "./message-log.ts"
import { lastUnits, toUnits } from "./message-units.ts"

export interface BufferedChatCompletionContextOptions extends MessageLogOptions {
  /** How many of the last messages are shown; fewer where a call would lose its results. */
  readonly bufferSize: number
}

/** Shows the last messages. A call with its results is shown whole even if it alone is more than that. */
export class BufferedChatCompletionContext extends MessageLog {
  readonly #size: number

  constructor({ bufferSize, ...options }: BufferedChatCompletionContextOptions) {
    super(options)
    this.#size = checkSize("bufferSize", bufferSize)
  }

  protected override select(messages: readonly LLMMessage[]): readonly LLMMessage[] {
    return lastUnits(toUnits(messages), this.#size).flat()
  }
}
