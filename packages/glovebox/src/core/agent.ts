import type { AgentId } from "./agent-id.ts"
import type { AgentMetadata } from "./agent-metadata.ts"
import type { AgentRuntime } from "./agent-runtime.ts"
import type { JsonObject } from "./json.ts"
import type { AnyMessageType, Message } from "./message.ts"
import type { MessageContext } from "./message-context.ts"

/** What an agent may answer: a message, or nothing. */
export type Reply = Message | undefined

// `void` lets a handler end without a return statement.
export type MaybeReply = Message | void

/** What a runtime needs of an agent. Most agents extend `RoutedAgent`, which implements it. */
export interface Agent {
  readonly id: AgentId
  readonly metadata: AgentMetadata
  /** The types it handles, so that a runtime can read them from the wire. */
  readonly messageTypes: readonly AnyMessageType[]
  /** Called once by the runtime; throws when the agent belongs to another id or runtime. */
  bind(id: AgentId, runtime: AgentRuntime): void
  onMessage(message: Message, context: MessageContext): MaybeReply | Promise<MaybeReply>
  saveState(): JsonObject | Promise<JsonObject>
  loadState(state: JsonObject): void | Promise<void>
  close(): void | Promise<void>
}
