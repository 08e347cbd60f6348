import { z } from "zod"
import {
  type Component,
  type ComponentDefinition,
  type ComponentModel,
  type ComponentPart,
  type JsonObject,
  componentModelSchema,
  componentPart,
  defineComponent,
} from "../../core/index.ts"
import { readOptions } from "../../core/read-options.ts"
import type { ChatMessage } from "../messages/index.ts"
import { BaseChatAgent } from "./base-chat-agent.ts"
import type { ChatAgent, TurnOptions, TurnStream } from "./chat-agent.ts"
import { type MessageFilter, filterMessages, messageFilterSchema } from "./message-filter.ts"

export interface MessageFilterAgentOptions {
  /** Gets what the filter lets through, and ends with this agent. */
  readonly wrappedAgent: ChatAgent
  /** What is let through of the new messages of each turn; without a rule, nothing. */
  readonly filter: MessageFilter
  /** @default the wrapped agent's */
  readonly name?: string | undefined
  /** @default the wrapped agent's */
  readonly description?: string | undefined
}

const optionsSchema = z.strictObject({
  wrappedAgent: z.custom<ChatAgent>(
    (value) => typeof value === "object" && value !== null && "onMessagesStream" in value,
    "must be an agent",
  ),
  filter: messageFilterSchema,
  name: z.string().optional(),
  description: z.string().optional(),
})

const wrappedPart: ComponentPart<ChatAgent> = componentPart("agent", ["onMessagesStream", "onReset"])

const configSchema = z.object({
  name: z.string(),
  description: z.string().nullish(),
  wrapped_agent: componentModelSchema,
  filter: z.object({
    per_source: z.array(
      z.object({
        source: z.string(),
        position: z.enum(["first", "last"]).nullish(),
        count: z.int().nonnegative().nullish(),
      }),
    ),
    order: z.enum(["chronological", "rules"]).nullish(),
  }),
})

/**
 * Lets another agent see only some of the new messages of a turn. It answers with what that agent says, as that agent
 * says it.
 *
 * @example
 * const editor = new MessageFilterAgent({
 *   wrappedAgent: writer,
 *   filter: { perSource: [{ source: "user", position: "first", count: 1 }, { source: "critic", position: "last", count: 1 }] },
 * })
 */
export class MessageFilterAgent extends BaseChatAgent implements Component {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, MessageFilterAgent> =
    defineComponent({
      provider: "glovebox.agents.MessageFilterAgent",
      aliases: ["autogen_agentchat.agents.MessageFilterAgent"],
      type: "agent",
      config: configSchema,
      create: ({ name, description, wrapped_agent: wrapped, filter }, loader) =>
        new MessageFilterAgent({
          name,
          description: description ?? undefined,
          wrappedAgent: wrappedPart.load(wrapped, loader),
          filter: {
            perSource: filter.per_source.map(({ source, position, count }) => ({
              source,
              position: position ?? undefined,
              count: count ?? undefined,
            })),
            order: filter.order ?? undefined,
          },
        }),
    })

  readonly #wrapped: ChatAgent
  readonly #filter: z.output<typeof messageFilterSchema>

  constructor(options: MessageFilterAgentOptions) {
    const { wrappedAgent, filter, name, description } = readOptions(
      "MessageFilterAgent",
      optionsSchema,
      options,
    )
    super(name ?? wrappedAgent.name, description ?? wrappedAgent.description)
    this.#wrapped = wrappedAgent
    this.#filter = filter
  }

  override get producedMessageTypes(): readonly string[] {
    return this.#wrapped.producedMessageTypes
  }

  override onMessagesStream(messages: readonly ChatMessage[], options: TurnOptions): TurnStream {
    return this.#wrapped.onMessagesStream(filterMessages(this.#filter, messages), options)
  }

  override async onReset(options: TurnOptions): Promise<void> {
    await this.#wrapped.onReset(options)
  }

  override async onPause(): Promise<void> {
    await this.#wrapped.onPause()
  }

  override async onResume(): Promise<void> {
    await this.#wrapped.onResume()
  }

  override async saveState(): Promise<JsonObject> {
    return this.#wrapped.saveState()
  }

  override async loadState(state: JsonObject): Promise<void> {
    await this.#wrapped.loadState(state)
  }

  override async close(): Promise<void> {
    await this.#wrapped.close()
  }

  toComponent(): ComponentModel {
    const { perSource, order } = this.#filter
    return MessageFilterAgent.definition.dump({
      name: this.name,
      description: this.description,
      wrapped_agent: wrappedPart.dump(this.#wrapped, "wrappedAgent"),
      filter: { per_source: perSource, order },
    })
  }
}
