import { z } from "zod"
import { type ComponentDefinition, type ComponentModel, defineComponent } from "../../core/index.ts"
import { StopMessage } from "../messages/index.ts"
import { type Delta, TerminationCondition, saidIn } from "./termination-condition.ts"

const configSchema = z.object({})

/** Fires when somebody answers with a StopMessage. */
export class StopMessageTermination extends TerminationCondition {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, StopMessageTermination> =
    defineComponent({
      provider: "glovebox.conditions.StopMessageTermination",
      aliases: ["autogen_agentchat.conditions.StopMessageTermination"],
      type: "termination",
      config: configSchema,
      create: () => new StopMessageTermination(),
    })

  toComponent(): ComponentModel {
    return StopMessageTermination.definition.dump({})
  }

  protected override decide(delta: Delta): string | undefined {
    if (delta.isTask) return undefined
    const found = saidIn(delta).find((item) => StopMessage.is(item))
    return found && `${found.source} asked for a stop.`
  }
}
