import { describe } from "../internal/describe.ts"
import { type AgentBinding, currentInstantiation } from "./ambient-scope.ts"
import { type AgentId, formatAgentId, sameAgentId } from "./agent-id.ts"
import type { AgentMetadata } from "./agent-metadata.ts"
import type { AgentRuntime, ExpectReply, PublishOptions, SendOptions } from "./agent-runtime.ts"
import type { Agent, MaybeReply, Reply } from "./agent.ts"
import { GloveboxError } from "./glovebox-error.ts"
import type { JsonObject } from "./json.ts"
import type { AnyMessageType, Message } from "./message.ts"
import type { MessageContext } from "./message-context.ts"
import { DEFAULT_TOPIC_TYPE, type TopicId, topicId } from "./topic-id.ts"

/** An agent with an address, that can send and publish. Extend `RoutedAgent` to handle messages by type. */
export abstract class BaseAgent implements Agent {
  readonly #description: string
  #binding: AgentBinding | undefined

  constructor(description: string) {
    if (typeof description !== "string") {
      throw new GloveboxError(
        "AGENT_INVALID",
        `An agent's description must be a string, not ${describe(description)}.`,
      )
    }
    this.#description = description
    // A factory runs for one id, so its agent knows its address already in the constructor.
    this.#binding = currentInstantiation()
  }

  get id(): AgentId {
    return this.#bound().id
  }

  get runtime(): AgentRuntime {
    return this.#bound().runtime
  }

  get metadata(): AgentMetadata {
    const { type, key } = this.id
    return { type, key, description: this.#description }
  }

  abstract get messageTypes(): readonly AnyMessageType[]

  abstract onMessage(message: Message, context: MessageContext): MaybeReply | Promise<MaybeReply>

  bind(id: AgentId, runtime: AgentRuntime): void {
    const current = this.#binding
    if (current === undefined) {
      this.#binding = { id, runtime }
    } else if (current.runtime !== runtime || !sameAgentId(current.id, id)) {
      throw new GloveboxError(
        "AGENT_ALREADY_BOUND",
        `The agent is ${formatAgentId(current.id)} already and cannot become ${formatAgentId(id)}` +
          `${current.runtime === runtime ? "" : " on another runtime"}. Build a new agent for each id.`,
      )
    }
  }

  /** Sends to one agent as this agent, and waits for the reply. */
  send<Fields extends object, Name extends string>(
    message: Message,
    recipient: AgentId,
    options: Omit<SendOptions, "sender"> & ExpectReply<Fields, Name>,
  ): Promise<Message<Fields, Name>>
  send(message: Message, recipient: AgentId, options?: Omit<SendOptions, "sender">): Promise<Reply>
  send(message: Message, recipient: AgentId, options?: Omit<SendOptions, "sender">): Promise<Reply> {
    const binding = this.#binding
    if (!binding) return Promise.reject(unbound())
    return binding.runtime.send(message, recipient, { ...options, sender: binding.id })
  }

  /** Publishes as this agent; without a topic, to the default topic of its own key. */
  publish(message: Message, topic?: TopicId, options?: Omit<PublishOptions, "sender">): Promise<void> {
    const binding = this.#binding
    if (!binding) return Promise.reject(unbound())
    const { id, runtime } = binding
    return runtime.publish(message, topic ?? topicId(DEFAULT_TOPIC_TYPE, id.key), { ...options, sender: id })
  }

  /** What a new instance needs to go on from here, as JSON. */
  saveState(): JsonObject | Promise<JsonObject> {
    return {}
  }

  loadState(state: JsonObject): void | Promise<void> {
    const fields = Object.keys(state)
    if (fields.length === 0) return
    throw new GloveboxError(
      "STATE_INVALID",
      `Agent ${formatAgentId(this.id)} keeps no state but was given ${fields.join(", ")}. ` +
        "Override saveState and loadState together.",
    )
  }

  close(): void | Promise<void> {}

  #bound(): AgentBinding {
    if (this.#binding) return this.#binding
    throw unbound()
  }
}

function unbound(): GloveboxError {
  return new GloveboxError(
    "AGENT_UNBOUND",
    "The agent has no id yet. Register it: runtime.register(type, () => new MyAgent()) or registerInstance.",
  )
}
