import type { LLMMessage } from "../models/index.ts"
import { checkSize } from "./check-size.ts"
import { MessageLog, type MessageLogOptions } from "./message-log.ts"
import { firstUnits, lastUnits, toUnits } from "./message-units.ts"

export interface HeadAndTailChatCompletionContextOptions extends MessageLogOptions {
  /** How many of the first messages are shown. */
  readonly headSize: number
  /** How many of the last messages are shown. */
  readonly tailSize: number
}

/** Shows the first and the last messages, and says how many it leaves out between them. */
export class HeadAndTailChatCompletionContext extends MessageLog {
  readonly #headSize: number
  readonly #tailSize: number

  constructor({ headSize, tailSize, ...options }: HeadAndTailChatCompletionContextOptions) {
    super(options)
    this.#headSize = checkSize("headSize", headSize)
    this.#tailSize = checkSize("tailSize", tailSize)
  }

  protected override select(messages: readonly LLMMessage[]): readonly LLMMessage[] {
    const units = toUnits(messages)
    const whole = units.flat()
    if (whole.length <= this.#headSize + this.#tailSize) return whole
    const head = firstUnits(units, this.#headSize)
    const tail = lastUnits(units.slice(head.length), this.#tailSize)
    const shown = head.flat().length + tail.flat().length
    if (shown === whole.length) return whole
    const gap: LLMMessage = {
      type: "UserMessage",
      content: `Skipped ${whole.length - shown} messages.`,
      source: "System",
    }
    return [...head.flat(), gap, ...tail.flat()]
  }
}
