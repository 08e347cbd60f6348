import type { ChatMessage } from "../messages/index.ts"

/** A question to a person. */
export interface UserInputRequest {
  readonly prompt: string
  /** The same as in the UserInputRequestedEvent that was told before. */
  readonly requestId: string
  /** The name of the agent that asks. */
  readonly agent: string
  /** What is new since the person was asked last. */
  readonly messages: readonly ChatMessage[]
  /** Aborted when the answer is not wanted any more. */
  readonly signal: AbortSignal
}

/** Asks a person, and gives their answer. */
export type UserInput = (request: UserInputRequest) => string | Promise<string>
