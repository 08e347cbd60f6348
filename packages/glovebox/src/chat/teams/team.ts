import type { JsonObject } from "../../core/index.ts"
import type { TaskRunner } from "../task/index.ts"

/** Several who work on a task together. A team can be a participant of another team. */
export interface Team extends TaskRunner, AsyncDisposable {
  /** Begins anew: everybody forgets the conversation. Not while it runs. */
  reset(): Promise<void>
  /** Holds the run after the turns that are under way, and tells the agents. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** A checkpoint. While it runs, or is paused, it is taken when the turns under way have ended; the run goes on after it. */
  saveState(): Promise<JsonObject>
  /** Restores all of it, or nothing. Not while it runs. */
  loadState(state: JsonObject): Promise<void>
  /** Ends a run that is under way, and what belongs to the team. Agents belong to whoever made them. */
  close(): Promise<void>
}
