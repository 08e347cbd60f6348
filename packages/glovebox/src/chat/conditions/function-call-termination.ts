import { z } from "zod"
import { type ComponentDefinition, type ComponentModel, defineComponent } from "../../core/index.ts"
import { readOptions } from "../../core/read-options.ts"
import { ToolCallExecutionEvent } from "../messages/index.ts"
import { type Delta, TerminationCondition } from "./termination-condition.ts"

const schema = z.strictObject({ functionName: z.string().min(1) })
const configSchema = z.object({ function_name: z.string().min(1) })

/** Fires when the tool of that name was called, whether or not the call failed. */
export class FunctionCallTermination extends TerminationCondition {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, FunctionCallTermination> =
    defineComponent({
      provider: "glovebox.conditions.FunctionCallTermination",
      aliases: ["autogen_agentchat.conditions.FunctionCallTermination"],
      type: "termination",
      config: configSchema,
      create: ({ function_name: functionName }) => new FunctionCallTermination(functionName),
    })

  readonly #functionName: string

  constructor(functionName: string) {
    super()
    this.#functionName = readOptions("FunctionCallTermination", schema, {
      functionName,
    }).functionName
  }

  toComponent(): ComponentModel {
    return FunctionCallTermination.definition.dump({ function_name: this.#functionName })
  }

  protected override decide({ messages, isTask }: Delta): string | undefined {
    if (isTask) return undefined
    const found = messages.find(
      (item) =>
        ToolCallExecutionEvent.is(item) && item.content.some(({ name }) => name === this.#functionName),
    )
    return found && `${found.source} called ${this.#functionName}.`
  }
}
