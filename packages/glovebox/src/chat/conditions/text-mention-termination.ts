import { z } from "zod"
import { type ComponentDefinition, type ComponentModel, defineComponent } from "../../core/index.ts"
import { readOptions } from "../../core/read-options.ts"
import { isChunk, toText } from "../messages/index.ts"
import { type Delta, TerminationCondition, saidIn } from "./termination-condition.ts"

export interface TextMentionTerminationOptions {
  /** The names of those whose words count. @default everybody */
  readonly sources?: readonly string[] | undefined
  /** Whether thoughts, tool calls and other events count as well. @default false */
  readonly includeAgentEvent?: boolean | undefined
}

const optionsSchema = z.strictObject({
  text: z.string().min(1, "is empty, and would be in every message"),
  sources: z.array(z.string()).min(1, "is empty, so that nobody's words would count").optional(),
  includeAgentEvent: z.boolean().default(false),
})
const configSchema = z.object({
  text: z.string().min(1),
  sources: z.array(z.string()).min(1).nullish(),
  include_agent_event: z.boolean().default(false),
})

/** Fires when somebody says the text. The task may mention it. */
export class TextMentionTermination extends TerminationCondition {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, TextMentionTermination> =
    defineComponent({
      provider: "glovebox.conditions.TextMentionTermination",
      aliases: ["autogen_agentchat.conditions.TextMentionTermination"],
      type: "termination",
      config: configSchema,
      create: ({ text, sources, include_agent_event: includeAgentEvent }) =>
        new TextMentionTermination(text, { sources: sources ?? undefined, includeAgentEvent }),
    })

  readonly #options: z.output<typeof optionsSchema>

  constructor(text: string, options: TextMentionTerminationOptions = {}) {
    super()
    this.#options = readOptions("TextMentionTermination", optionsSchema, { ...options, text })
  }

  toComponent(): ComponentModel {
    const { text, sources, includeAgentEvent } = this.#options
    return TextMentionTermination.definition.dump({
      text,
      sources: sources ?? null,
      include_agent_event: includeAgentEvent,
    })
  }

  protected override decide(delta: Delta): string | undefined {
    if (delta.isTask) return undefined
    const { text, sources, includeAgentEvent } = this.#options
    const looked = includeAgentEvent ? delta.messages.filter((item) => !isChunk(item)) : saidIn(delta)
    const found = looked.find(
      (item) => (sources === undefined || sources.includes(item.source)) && toText(item).includes(text),
    )
    return found && `${found.source} said "${text}".`
  }
}
