import { z } from "zod"
import {
  type ComponentDefinition,
  type ComponentModel,
  type JsonObject,
  defineComponent,
} from "../../core/index.ts"
import { readConditionState } from "./read-condition-state.ts"
import { TerminationCondition } from "./termination-condition.ts"

const configSchema = z.object({})
const stateSchema = z.strictObject({ isSet: z.boolean() })

/** A stop button: `set()` ends the run after the turn that is under way. */
export class ExternalTermination extends TerminationCondition {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, ExternalTermination> =
    defineComponent({
      provider: "glovebox.conditions.ExternalTermination",
      aliases: ["autogen_agentchat.conditions.ExternalTermination"],
      type: "termination",
      config: configSchema,
      create: () => new ExternalTermination(),
    })

  #isSet = false

  set(): void {
    this.#isSet = true
  }

  toComponent(): ComponentModel {
    return ExternalTermination.definition.dump({})
  }

  protected override decide(): string | undefined {
    return this.#isSet ? "A stop was asked for from outside." : undefined
  }

  protected override forget(): void {
    this.#isSet = false
  }

  protected override save(): JsonObject {
    return { isSet: this.#isSet }
  }

  protected override load(state: JsonObject): void {
    this.#isSet = readConditionState(this, stateSchema, state).isSet
  }
}
