import { z } from "zod"
import { GloveboxError, type JsonObject } from "../../../core/index.ts"
import { formatIssues } from "../../../internal/format-issues.ts"
import { suspendedCodeSchema } from "./suspended-code.ts"

const waitingSchema = suspendedCodeSchema.extend({
  /** The ids of the messages that it was found in, which come again when a team goes on. */
  messages: z.array(z.string()),
})

const stateSchema = z.strictObject({ version: z.literal(1), suspended: waitingSchema })

export type WaitingState = z.output<typeof waitingSchema>

/** What an agent without a model keeps from turn to turn: code of others that waits for an approval. */
export class WaitingCode {
  code: WaitingState | undefined

  saveState(): JsonObject {
    return this.code ? { version: 1, suspended: { ...this.code } } : {}
  }

  loadState(state: JsonObject): void {
    if (Object.keys(state).length === 0) {
      this.code = undefined
      return
    }
    const { data, error } = stateSchema.safeParse(state)
    if (error) {
      throw new GloveboxError(
        "STATE_INVALID",
        `This is no state of a CodeExecutorAgent without a model: ${formatIssues(error.issues)}`,
      )
    }
    this.code = data.suspended
  }
}
