import type { AgentId } from "./agent-id.ts"
import type { Reply } from "./agent.ts"
import type { Message } from "./message.ts"
import type { TopicId } from "./topic-id.ts"

/** What an intervention says of a message; later ones in the chain see what it left. */
export type InterventionDecision<M> =
  | { readonly action: "allow" }
  | { readonly action: "replace"; readonly message: M }
  /** Lets the message vanish: a sender gets `MESSAGE_DROPPED`, a publisher nothing. */
  | { readonly action: "drop"; readonly reason?: string | undefined }
  /** Refuses the message: sender and publisher get `MESSAGE_REJECTED`, with `error` as its cause. */
  | { readonly action: "reject"; readonly reason: string; readonly error?: unknown }

type Decision<M> = InterventionDecision<M> | Promise<InterventionDecision<M>>

export interface InterventionContext {
  readonly messageId: string
  /** Undefined when the message comes from outside an agent. */
  readonly sender: AgentId | undefined
  /** Aborts when the sender gives up or the runtime stops. */
  readonly signal: AbortSignal
}

export interface SendIntervention extends InterventionContext {
  readonly recipient: AgentId
}

export interface PublishIntervention extends InterventionContext {
  readonly topicId: TopicId
}

export interface ResponseIntervention {
  readonly messageId: string
  /** The message that is being answered. */
  readonly request: Message
  /** The agent that answers. */
  readonly sender: AgentId
  /** The agent that asked; undefined when it was asked from outside an agent. */
  readonly recipient: AgentId | undefined
}

/** Sees messages on their way. Runs beside the other agents' work; only the message's recipient waits. */
export interface InterventionHandler {
  onSend?(message: Message, context: SendIntervention): Decision<Message>
  onPublish?(message: Message, context: PublishIntervention): Decision<Message>
  onResponse?(reply: Reply, context: ResponseIntervention): Decision<Reply>
}
