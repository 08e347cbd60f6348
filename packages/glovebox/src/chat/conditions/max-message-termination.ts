import { z } from "zod"
import {
  type ComponentDefinition,
  type ComponentModel,
  type JsonObject,
  defineComponent,
} from "../../core/index.ts"
import { readOptions } from "../../core/read-options.ts"
import { isChunk } from "../messages/index.ts"
import { readConditionState } from "./read-condition-state.ts"
import { type Delta, TerminationCondition, saidIn } from "./termination-condition.ts"

export interface MaxMessageTerminationOptions {
  /** How many messages there may be, those of the task included. */
  readonly maxMessages: number
  /** Whether events count as well. @default false */
  readonly includeAgentEvent?: boolean | undefined
}

const optionsSchema = z.strictObject({
  maxMessages: z.int().positive(),
  includeAgentEvent: z.boolean().default(false),
})
const configSchema = z.object({
  max_messages: z.int().positive(),
  include_agent_event: z.boolean().default(false),
})
const stateSchema = z.strictObject({ messages: z.int().nonnegative() })

/** Fires when there are that many messages, the task's own among them. */
export class MaxMessageTermination extends TerminationCondition {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, MaxMessageTermination> =
    defineComponent({
      provider: "glovebox.conditions.MaxMessageTermination",
      aliases: ["autogen_agentchat.conditions.MaxMessageTermination"],
      type: "termination",
      config: configSchema,
      create: (config) =>
        new MaxMessageTermination({
          maxMessages: config.max_messages,
          includeAgentEvent: config.include_agent_event,
        }),
    })

  readonly #maxMessages: number
  readonly #includeAgentEvent: boolean
  #messages = 0

  constructor(options: number | MaxMessageTerminationOptions) {
    super()
    const given = typeof options === "object" ? options : { maxMessages: options }
    const read = readOptions("MaxMessageTermination", optionsSchema, given)
    this.#maxMessages = read.maxMessages
    this.#includeAgentEvent = read.includeAgentEvent
  }

  toComponent(): ComponentModel {
    return MaxMessageTermination.definition.dump({
      max_messages: this.#maxMessages,
      include_agent_event: this.#includeAgentEvent,
    })
  }

  protected override decide(delta: Delta): string | undefined {
    const counted = this.#includeAgentEvent ? delta.messages.filter((item) => !isChunk(item)) : saidIn(delta)
    this.#messages += counted.length
    return this.#messages >= this.#maxMessages
      ? `There are ${this.#messages} messages, and ${this.#maxMessages} are allowed.`
      : undefined
  }

  protected override forget(): void {
    this.#messages = 0
  }

  protected override save(): JsonObject {
    return { messages: this.#messages }
  }

  protected override load(state: JsonObject): void {
    this.#messages = readConditionState(this, stateSchema, state).messages
  }
}
