import type { AgentId } from "./agent-id.ts"
import type { TopicId } from "./topic-id.ts"

/** What a handler is told beside the message. */
export interface MessageContext {
  readonly messageId: string
  /** The agent that sent it; undefined when it came from outside an agent. */
  readonly sender: AgentId | undefined
  /** Where it was published; undefined for a direct send. */
  readonly topicId: TopicId | undefined
  /** True for `send`, where the sender waits for a reply; false for `publish`. */
  readonly isRpc: boolean
  /** Aborts when the sender gives up, the deadline passes, or the runtime stops. */
  readonly signal: AbortSignal
}
