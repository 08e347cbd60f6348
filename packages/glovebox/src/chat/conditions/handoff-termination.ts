import { z } from "zod"
import { type ComponentDefinition, type ComponentModel, defineComponent } from "../../core/index.ts"
import { readOptions } from "../../core/read-options.ts"
import { HandoffMessage } from "../messages/index.ts"
import { type Delta, TerminationCondition, saidIn } from "./termination-condition.ts"

const schema = z.strictObject({ target: z.string().min(1) })
const configSchema = z.object(schema.shape)

/** Fires when the word is passed to that name, such as to a user who is not in the team. */
export class HandoffTermination extends TerminationCondition {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, HandoffTermination> =
    defineComponent({
      provider: "glovebox.conditions.HandoffTermination",
      aliases: ["autogen_agentchat.conditions.HandoffTermination"],
      type: "termination",
      config: configSchema,
      create: ({ target }) => new HandoffTermination(target),
    })

  readonly #target: string

  constructor(target: string) {
    super()
    this.#target = readOptions("HandoffTermination", schema, { target }).target
  }

  toComponent(): ComponentModel {
    return HandoffTermination.definition.dump({ target: this.#target })
  }

  protected override decide(delta: Delta): string | undefined {
    if (delta.isTask) return undefined
    const found = saidIn(delta).find((item) => HandoffMessage.is(item) && item.target === this.#target)
    return found && `${found.source} handed off to ${this.#target}.`
  }
}
