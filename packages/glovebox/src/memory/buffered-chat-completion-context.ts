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

export interface BufferedChatCompletionContextOptions extends MessageLogOptions {
  /** How many of the last messages are shown; fewer where a call would lose its results. */
  readonly bufferSize: number
}

const configSchema = z.object({ buffer_size: z.int().positive(), ...messageLogConfigShape })

/** Shows the last messages. A call with its results is shown whole even if it alone is more than that. */
export class BufferedChatCompletionContext extends MessageLog implements Component {
  static readonly definition: ComponentDefinition<
    z.input<typeof configSchema>,
    BufferedChatCompletionContext
  > = defineComponent({
    provider: "glovebox.memory.BufferedChatCompletionContext",
    aliases: ["autogen_core.model_context.BufferedChatCompletionContext"],
    type: "chat_completion_context",
    config: configSchema,
    create: ({ buffer_size: bufferSize, ...config }) =>
      new BufferedChatCompletionContext({ bufferSize, ...messageLogOptions(config) }),
  })

  readonly #size: number

  constructor({ bufferSize, ...options }: BufferedChatCompletionContextOptions) {
    super(options)
    this.#size = checkSize("bufferSize", bufferSize)
  }

  toComponent(): ComponentModel {
    return BufferedChatCompletionContext.definition.dump({ buffer_size: this.#size, ...this.config() })
  }

  protected override select(
    _messages: readonly LLMMessage[],
    units: () => MessageUnits,
  ): readonly LLMMessage[] {
    const cut = units()
    return cut.slice(cut.tailStart(this.#size))
  }
}
