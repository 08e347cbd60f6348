import { z } from "zod"
import { type ComponentDefinition, type ComponentModel, defineComponent } from "../../core/index.ts"
import { readOptions } from "../../core/read-options.ts"
import { TextMessage } from "../messages/index.ts"
import { type Delta, TerminationCondition, saidIn } from "./termination-condition.ts"

const schema = z.strictObject({ source: z.string().min(1).optional() })
const configSchema = z.object({ source: z.string().min(1).nullish() })

/** Fires when somebody, or the one of that name, answers with text. The task is no answer. */
export class TextMessageTermination extends TerminationCondition {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, TextMessageTermination> =
    defineComponent({
      provider: "glovebox.conditions.TextMessageTermination",
      aliases: ["autogen_agentchat.conditions.TextMessageTermination"],
      type: "termination",
      config: configSchema,
      create: ({ source }) => new TextMessageTermination(source ?? undefined),
    })

  readonly #source: string | undefined

  constructor(source?: string) {
    super()
    this.#source = readOptions("TextMessageTermination", schema, { source }).source
  }

  toComponent(): ComponentModel {
    return TextMessageTermination.definition.dump({ source: this.#source ?? null })
  }

  protected override decide(delta: Delta): string | undefined {
    if (delta.isTask) return undefined
    const found = saidIn(delta).find(
      (item) => TextMessage.is(item) && (this.#source === undefined || item.source === this.#source),
    )
    return found && `${found.source} answered with text.`
  }
}
