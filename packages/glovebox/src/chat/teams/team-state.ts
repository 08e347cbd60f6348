import { z } from "zod"
import { GloveboxError, type JsonObject } from "../../core/index.ts"
import { formatIssues } from "../../internal/format-issues.ts"
import { suspensionShape } from "./suspension-state.ts"

const jsonObject = z.custom<JsonObject>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
)

const teamStateSchema = z.strictObject({
  type: z.literal("TeamState"),
  version: z.literal(1),
  /** The class of the team: states of others do not fit. */
  team: z.string(),
  /** By the participant's name. */
  participants: z.record(z.string(), jsonObject),
  thread: z.array(z.unknown()),
  said: z.array(z.object({ message: z.unknown(), by: z.string().nullable() })),
  told: z.record(z.string(), z.int().nonnegative()),
  /** The ids of the task of a run that has not come to its end. */
  asked: z.array(z.string()),
  /** Whose turn was not heard: they are told the same again. */
  unheard: z.array(z.string()),
  /** Where the news of turns end that wait for an approval. */
  held: z.record(z.string(), z.int().nonnegative()).default({}),
  ...suspensionShape,
  turns: z.int().nonnegative(),
  policy: jsonObject,
  condition: jsonObject.nullable(),
})

/** A team between two turns, as JSON. */
export type TeamState = z.infer<typeof teamStateSchema>

export function readTeamState(team: string, participants: readonly string[], state: unknown): TeamState {
  const { data, error } = teamStateSchema.safeParse(state)
  if (error) throw invalid(`This is no state of a team: ${formatIssues(error.issues)}`)
  if (data.team !== team) throw invalid(`This is the state of a ${data.team}, and this team is a ${team}.`)
  const saved = Object.keys(data.participants)
  const missing = participants.filter((name) => !saved.includes(name))
  const unknown = saved.filter((name) => !participants.includes(name))
  if (missing.length > 0 || unknown.length > 0) {
    throw invalid(
      `The state is of the participants ${saved.join(", ")}, and the team has ${participants.join(", ")}.`,
    )
  }
  const { told, said } = data
  if (participants.some((name) => (told[name] ?? Number.POSITIVE_INFINITY) > said.length)) {
    throw invalid("This is no state of a team: it does not say how much each participant has heard.")
  }
  const waiting = data.suspended.map(({ speaker }) => speaker)
  const isKnown = waiting.every(
    (name) => participants.includes(name) && (data.held[name] ?? -1) >= (told[name] ?? 0),
  )
  const isThere = Object.entries(data.held).every(
    ([name, end]) => waiting.includes(name) && end <= said.length,
  )
  if (!isKnown || !isThere) {
    throw invalid("This is no state of a team: it does not say in which turns somebody waits.")
  }
  return data
}

export function invalid(message: string, cause?: unknown): GloveboxError {
  return new GloveboxError("STATE_INVALID", message, cause === undefined ? undefined : { cause })
}
