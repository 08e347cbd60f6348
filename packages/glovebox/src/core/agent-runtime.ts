import type { AgentId } from "./agent-id.ts"
import type { Agent, Reply } from "./agent.ts"
import type { AgentMetadata } from "./agent-metadata.ts"
import type { JsonObject } from "./json.ts"
import type { AnyMessageType, Message, MessageType } from "./message.ts"
import type { Subscription, UnboundSubscription } from "./subscription.ts"
import type { TopicId } from "./topic-id.ts"

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

export interface SendOptions {
  /** Gives up: the promise rejects with the signal's reason, and the handler's `context.signal` aborts. */
  readonly signal?: AbortSignal | undefined
  /** Rejects with `SEND_TIMEOUT` when no reply came in time. @default the runtime's `sendTimeoutMs` */
  readonly timeoutMs?: number | undefined
  /** The agent that sends; `this.send` of an agent fills it in. */
  readonly sender?: AgentId | undefined
  /** @default a random UUID */
  readonly messageId?: string | undefined
}

export interface ExpectReply<Fields extends object, Name extends string = string> {
  /** The type the reply must have; another one rejects with `REPLY_INVALID`. */
  readonly expect: MessageType<Fields, never, Name>
}

export interface PublishOptions {
  /** Withdraws the message from agents that have not begun on it, and aborts the others' `context.signal`. */
  readonly signal?: AbortSignal | undefined
  /** The agent that publishes, which never receives its own message. */
  readonly sender?: AgentId | undefined
  /** @default a random UUID */
  readonly messageId?: string | undefined
}

export interface MailboxOptions {
  /** How many messages may wait for one agent. @default Infinity */
  readonly capacity?: number | undefined
  /** What a full mailbox does to the sender: `reject` with `MAILBOX_FULL`, or let it `wait`. @default "wait" */
  readonly whenFull?: "wait" | "reject" | undefined
}

export interface RegisterOptions {
  /** What the agents of this type listen to, beside direct sends. @default [] */
  readonly subscriptions?: readonly (Subscription | UnboundSubscription)[] | undefined
  /** How many messages one agent handles at a time. @default 1 */
  readonly concurrency?: number | undefined
  /** @default the runtime's `mailbox` */
  readonly mailbox?: MailboxOptions | undefined
}

/** Builds an agent on demand; `id` and the runtime are also ambient while it runs. */
export type AgentFactory = (id: AgentId) => Agent | Promise<Agent>

/** Where agents live. The same agents run on every implementation. */
export interface AgentRuntime {
  /** Sends to one agent and waits for its reply; the agent's error is the caller's. */
  send<Fields extends object, Name extends string>(
    message: Message,
    recipient: AgentId,
    options: SendOptions & ExpectReply<Fields, Name>,
  ): Promise<Message<Fields, Name>>
  send(message: Message, recipient: AgentId, options?: SendOptions): Promise<Reply>
  /** Publishes to every subscribed agent; resolves when each has it in its mailbox. */
  publish(message: Message, topic?: TopicId, options?: PublishOptions): Promise<void>

  register(type: string, factory: AgentFactory, options?: RegisterOptions): Promise<void>
  registerInstance(id: AgentId, agent: Agent, options?: RegisterOptions): Promise<void>
  /**
   * Takes an agent out between two of its messages, and closes it; messages behind those are refused. One that a factory
   * builds is built anew for the next message.
   */
  removeAgent(id: AgentId, options?: CallOptions): Promise<void>
  /** Makes a message type readable from the wire and from saved state. */
  addMessageType(type: AnyMessageType): void

  addSubscription(subscription: Subscription): Promise<void>
  removeSubscription(id: string): Promise<void>

  agentMetadata(id: AgentId, options?: CallOptions): Promise<AgentMetadata>
  /** Taken between two messages of the agent, never in the middle of one. */
  saveAgentState(id: AgentId, options?: CallOptions): Promise<JsonObject>
  loadAgentState(id: AgentId, state: JsonObject, options?: CallOptions): Promise<void>
  saveState(options?: CallOptions): Promise<JsonObject>
  loadState(state: JsonObject, options?: CallOptions): Promise<void>
}
