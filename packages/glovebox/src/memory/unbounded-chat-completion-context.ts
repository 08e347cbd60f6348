import { z } from "zod"
import {
  type Component,
  type ComponentDefinition,
  type ComponentModel,
  defineComponent,
} from "../core/index.ts"
import type { LLMMessage } from "../models/index.ts"
import { MessageLog } from "./message-log.ts"
import { messageLogConfigShape, messageLogOptions } from "./message-log-config.ts"

const configSchema = z.object(messageLogConfigShape)

/** Shows the whole conversation. */
export class UnboundedChatCompletionContext extends MessageLog implements Component {
  static readonly definition: ComponentDefinition<
    z.input<typeof configSchema>,
    UnboundedChatCompletionContext
  > = defineComponent({
    provider: "glovebox.memory.UnboundedChatCompletionContext",
    aliases: ["autogen_core.model_context.UnboundedChatCompletionContext"],
    type: "chat_completion_context",
    config: configSchema,
    create: (config) => new UnboundedChatCompletionContext(messageLogOptions(config)),
  })

  toComponent(): ComponentModel {
    return UnboundedChatCompletionContext.definition.dump(this.config())
  }

  protected override select(messages: readonly LLMMessage[]): readonly LLMMessage[] {
    return messages
  }
}
