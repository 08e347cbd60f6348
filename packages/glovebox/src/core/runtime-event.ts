import type { AgentId } from "./agent-id.ts"
import type { Reply } from "./agent.ts"
import type { Message } from "./message.ts"
import type { TopicId } from "./topic-id.ts"

interface Sent {
  readonly messageId: string
  readonly message: Message
  readonly sender: AgentId | undefined
}

interface Delivered extends Sent {
  readonly recipient: AgentId
  /** Undefined for a direct send. */
  readonly topicId: TopicId | undefined
}

/** What happens in a runtime, for logs, audit and tests: `runtime.on("handler-failed", ...)`. */
export type RuntimeEvent =
  | ({ readonly type: "message-sent"; readonly recipient: AgentId } & Sent)
  /** How many agents get it is unknown where a host passes it on. */
  | ({
      readonly type: "message-published"
      readonly topicId: TopicId
      readonly recipients: number | undefined
    } & Sent)
  | ({ readonly type: "message-delivered" } & Delivered)
  | ({ readonly type: "message-handled"; readonly reply: Reply; readonly durationMs: number } & Delivered)
  /** An intervention dropped it, on its way to an agent or back. */
  | ({
      readonly type: "message-dropped"
      readonly kind: "send" | "publish" | "response"
      readonly recipient: AgentId | undefined
      readonly topicId: TopicId | undefined
      readonly reason: string | undefined
    } & Sent)
  /** The sender gave up, its deadline passed, or the runtime stopped, before the agent had answered. */
  | ({ readonly type: "message-cancelled"; readonly started: boolean; readonly reason: unknown } & Delivered)
  /** The agent has no handler for it. */
  | ({ readonly type: "message-unhandled"; readonly error: unknown } & Delivered)
  /** It never reached the agent: no such agent, a factory that failed, a full mailbox, a refusing intervention. */
  | ({
      readonly type: "message-undeliverable"
      readonly recipient: AgentId | undefined
      readonly topicId: TopicId | undefined
      readonly error: unknown
    } & Sent)
  | ({ readonly type: "handler-failed"; readonly error: unknown; readonly durationMs: number } & Delivered)
  | { readonly type: "agent-created"; readonly agentId: AgentId }
  | { readonly type: "agent-creation-failed"; readonly agentId: AgentId; readonly error: unknown }
  | { readonly type: "runtime-started" }
  | { readonly type: "runtime-stopped"; readonly abandonedHandlers: number }
