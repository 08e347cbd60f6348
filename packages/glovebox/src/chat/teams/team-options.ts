import { z } from "zod"
import type { AgentRuntime } from "../../core/index.ts"
import { parseDuration } from "../../policy/index.ts"
import { TerminationCondition } from "../conditions/termination-condition.ts"
import type { AnyChatMessageType } from "../messages/index.ts"

/** What every team takes, beside its participants. */
export interface TeamOptions {
  /** @default the name of its class */
  readonly name?: string | undefined
  readonly description?: string | undefined
  /** When to stop. @default never, so that `maxTurns`, the signal or leaving the stream ends it */
  readonly terminationCondition?: TerminationCondition | undefined
  /** How often somebody is given the word in a run. @default no bound */
  readonly maxTurns?: number | undefined
  /** How long one turn may take; the run then fails with TURN_TIMEOUT. @default no bound */
  readonly turnTimeout?: string | number | undefined
  /** Where the team lives; whoever made the runtime starts and stops it. @default one of its own */
  readonly runtime?: AgentRuntime | undefined
  /** Types of messages of one's own that the agents say, so that a saved state can be read again. @default [] */
  readonly customMessageTypes?: readonly AnyChatMessageType[] | undefined
  /** Whether the stream tells who was chosen to speak, and why. @default false */
  readonly emitTeamEvents?: boolean | undefined
}

/** Fields for the schema of a team's options. */
export const teamOptionsShape = {
  participants: z.unknown(),
  name: z.string().min(1).optional(),
  description: z.string().optional(),
  terminationCondition: z
    .custom<TerminationCondition>((value) => value instanceof TerminationCondition, "is no condition")
    .optional(),
  maxTurns: z.int().min(1).optional(),
  turnTimeout: z
    .union([z.string(), z.number()])
    .transform((value, context) => {
      const ms = parseDuration(value)
      if (ms !== undefined && ms > 0 && ms < 2 ** 31) return ms
      context.addIssue({ code: "custom", message: `${JSON.stringify(value)} is no time such as "60s"` })
      return z.NEVER
    })
    .optional(),
  runtime: z
    .custom<AgentRuntime>(
      (value) => typeof value === "object" && value !== null && "registerInstance" in value,
      "is no runtime",
    )
    .optional(),
  customMessageTypes: z
    .array(z.custom<AnyChatMessageType>((value) => typeof value === "function", "is no message type"))
    .default([]),
  emitTeamEvents: z.boolean().default(false),
}

const baseSchema = z.object(teamOptionsShape)

export type ReadTeamOptions = Omit<z.output<typeof baseSchema>, "participants">
