import { z } from "zod"
import { type ComponentDefinition, type ComponentModel, defineComponent } from "../../core/index.ts"
import { readOptions } from "../../core/read-options.ts"
import { type Delta, TerminationCondition, saidIn } from "./termination-condition.ts"

const sources = z.array(z.string().min(1)).min(1, "is empty, so that it would never fire")
const schema = z.strictObject({ sources })
const configSchema = z.object({ sources })

/** Fires when one of these names had its turn. */
export class SourceMatchTermination extends TerminationCondition {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, SourceMatchTermination> =
    defineComponent({
      provider: "glovebox.conditions.SourceMatchTermination",
      aliases: ["autogen_agentchat.conditions.SourceMatchTermination"],
      type: "termination",
      config: configSchema,
      create: (config) => new SourceMatchTermination(config.sources),
    })

  readonly #sources: readonly string[]

  constructor(sources: readonly string[]) {
    super()
    this.#sources = readOptions("SourceMatchTermination", schema, { sources }).sources
  }

  toComponent(): ComponentModel {
    return SourceMatchTermination.definition.dump({ sources: [...this.#sources] })
  }

  protected override decide(delta: Delta): string | undefined {
    if (delta.isTask) return undefined
    const found = saidIn(delta).find(({ source }) => this.#sources.includes(source))
    return found && `${found.source} had its turn.`
  }
}
