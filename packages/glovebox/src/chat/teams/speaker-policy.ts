import type { JsonObject } from "../../core/index.ts"
import type { RequestUsage } from "../../models/index.ts"
import type { AgentEvent, ChatItem, ChatMessage } from "../messages/index.ts"
import type { StopKind } from "../task/index.ts"

/** Who is to speak now, beside those who speak already; or that it is over. Nobody new and nobody at it is the end too. */
export type NextSpeakers =
  | { readonly speakers: readonly string[] }
  /** Why it is over; `kind` is "completed" unless it says otherwise. */
  | { readonly stop: string; readonly kind?: StopKind | undefined }

/** The conversation as a policy sees it. */
export interface Floor {
  readonly participants: readonly { readonly name: string; readonly description: string }[]
  /** All that was said and done, from the first run on; it grows while the policy holds it. */
  readonly thread: readonly ChatItem[]
  /** Who has a turn that has not ended. */
  readonly speaking: ReadonlySet<string>
  /** Who waits for approvals, in a turn that goes on before anybody else speaks. */
  readonly waiting: readonly string[]
  /** How often the word was given in this run; a state that was saved in the middle of it goes on counting. */
  readonly turns: number
  readonly signal: AbortSignal
  /** Shows an event of the team itself, if those are shown; what its model call used counts in any case. */
  emit(event: AgentEvent): Promise<void>
  /** Says something in the team's own name: everybody hears it, and conditions see it. */
  say(message: ChatMessage): Promise<void>
  /** Counts model calls that no message tells of. */
  addUsage(usage: RequestUsage): void
  /** Lets everybody forget the conversation, and forgets it. */
  startOver(): Promise<void>
}

/** Decides who speaks when. */
export interface SpeakerPolicy {
  /** Called at the beginning of each run, before the task is said; it throws to refuse the task. */
  begin?(task: readonly ChatMessage[], floor: Floor): void | Promise<void>
  /** Called at the beginning and after each turn. */
  next(floor: Floor): NextSpeakers | Promise<NextSpeakers>
  /** Called when a turn has ended, before `next`. */
  finished?(speaker: string, said: readonly ChatMessage[]): void | Promise<void>
  /** Called when turns were ended in the middle: by an abort, an error or a condition. */
  interrupted?(speakers: readonly string[]): void
  reset(): void | Promise<void>
  saveState(): JsonObject | Promise<JsonObject>
  /** @throws STATE_INVALID */
  loadState(state: JsonObject): void | Promise<void>
}
