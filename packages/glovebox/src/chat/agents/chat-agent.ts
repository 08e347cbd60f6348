import type { JsonObject } from "../../core/index.ts"
import type { ChatItem, ChatMessage } from "../messages/index.ts"
import type { Response, TaskRunner } from "../task/index.ts"

export interface TurnOptions {
  /** Aborted when the turn is not wanted any more; every wait of the agent ends with its reason. */
  readonly signal: AbortSignal
  /** Whether its last turn was not heard to its end, so that the messages of it come again. @default false */
  readonly isRetry?: boolean | undefined
}

/** What a turn yields: what happens, as it happens, and the response as the last item. */
export type TurnStream = AsyncGenerator<ChatItem | Response, Response, undefined>

/** Somebody in a conversation: given what is new, it says something. It keeps what it needs of the past. */
export interface ChatAgent extends TaskRunner, AsyncDisposable {
  /** The types of messages it may answer with. @default ["TextMessage"] */
  readonly producedMessageTypes: readonly string[]
  onMessages(messages: readonly ChatMessage[], options: TurnOptions): Promise<Response>
  onMessagesStream(messages: readonly ChatMessage[], options: TurnOptions): TurnStream
  /** Forgets the conversation. */
  onReset(options: TurnOptions): Promise<void>
  onPause(): Promise<void>
  onResume(): Promise<void>
  saveState(): Promise<JsonObject>
  loadState(state: JsonObject): Promise<void>
  /** Ends what belongs to the agent. */
  close(): Promise<void>
}
