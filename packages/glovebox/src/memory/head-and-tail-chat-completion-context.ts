import { z } from "zod"
import {
  type Component,
  type ComponentDefinition,
  type ComponentModel,
  defineComponent,
} from "../core/index.ts"
import type { LLMMessage } from "../models/index.ts"
import { checkSize } from "./check-size.ts"
import { MessageLog, type MessageLogOptions } from "./message-log.ts"
import { messageLogConfigShape, messageLogOptions } from "./message-log-config.ts"
import type { MessageUnits } from "./message-units.ts"

export interface HeadAndTailChatCompletionContextOptions extends MessageLogOptions {
  /** How many of the first messages are shown. */
  readonly headSize: number
  /** How many of the last messages are shown. */
  readonly tailSize: number
}

const configSchema = z.object({
  head_size: z.int().positive(),
  tail_size: z.int().positive(),
  ...messageLogConfigShape,
})

/** Shows the first and the last messages, and says how many it leaves out between them. */
export class HeadAndTailChatCompletionContext extends MessageLog implements Component {
  static readonly definition: ComponentDefinition<
    z.input<typeof configSchema>,
    HeadAndTailChatCompletionContext
  > = defineComponent({
    provider: "glovebox.memory.HeadAndTailChatCompletionContext",
    aliases: ["autogen_core.model_context.HeadAndTailChatCompletionContext"],
    type: "chat_completion_context",
    config: configSchema,
    create: ({ head_size: headSize, tail_size: tailSize, ...config }) =>
      new HeadAndTailChatCompletionContext({ headSize, tailSize, ...messageLogOptions(config) }),
  })

  readonly #headSize: number
  readonly #tailSize: number

  constructor({ headSize, tailSize, ...options }: HeadAndTailChatCompletionContextOptions) {
    super(options)
    this.#headSize = checkSize("headSize", headSize)
    this.#tailSize = checkSize("tailSize", tailSize)
  }

  toComponent(): ComponentModel {
    return HeadAndTailChatCompletionContext.definition.dump({
      head_size: this.#headSize,
      tail_size: this.#tailSize,
      ...this.config(),
    })
  }

  protected override select(
    _messages: readonly LLMMessage[],
    units: () => MessageUnits,
  ): readonly LLMMessage[] {
    const cut = units()
    if (cut.length <= this.#headSize + this.#tailSize) return cut.slice(0)
    const head = cut.headLength(this.#headSize)
    const tail = cut.tailStart(this.#tailSize, head)
    if (head === tail) return cut.slice(0)
    const gap: LLMMessage = {
      type: "UserMessage",
      content: `Skipped ${tail - head} messages.`,
      source: "System",
    }
    return [...cut.slice(0, head), gap, ...cut.slice(tail)]
  }
}
