import { z } from "zod"
import {
  type Component,
  type ComponentLoader,
  type ComponentModel,
  GloveboxError,
  componentModelSchema,
} from "../../core/index.ts"
import { TerminationCondition } from "../conditions/termination-condition.ts"
import type { Participant } from "./participant.ts"
import type { ReadTeamOptions, TeamOptions } from "./team-options.ts"

/** The fields of every team's configuration; the names are AutoGen's. */
export const teamConfigShape = {
  name: z.string().optional(),
  description: z.string().optional(),
  participants: z.array(componentModelSchema),
  termination_condition: componentModelSchema.nullish(),
  max_turns: z.int().min(1).nullish(),
  turn_timeout_ms: z.number().positive().nullish(),
  emit_team_events: z.boolean().default(false),
}

const configSchema = z.object(teamConfigShape)
type TeamConfig = z.output<typeof configSchema>

/** What can be written down of a team. Its runtime and its own message types belong to the program. */
export function dumpTeam(
  participants: readonly Participant[],
  { name, description, terminationCondition, maxTurns, turnTimeout, emitTeamEvents }: ReadTeamOptions,
): z.input<typeof configSchema> {
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    participants: participants.map((participant) => dumpPart(participant.name, participant)),
    termination_condition: terminationCondition?.toComponent() ?? null,
    max_turns: maxTurns ?? null,
    turn_timeout_ms: turnTimeout ?? null,
    emit_team_events: emitTeamEvents,
  }
}

/** The options of a team that was written down. */
export function loadTeam(
  config: TeamConfig,
  loader: ComponentLoader,
): TeamOptions & { readonly participants: readonly Participant[] } {
  const { termination_condition: condition } = config
  return {
    name: config.name,
    description: config.description,
    // What is no participant is refused where the team is made.
    participants: config.participants.map((model) => loader.load(model) as Participant),
    terminationCondition: condition ? loader.load(condition, TerminationCondition) : undefined,
    maxTurns: config.max_turns ?? undefined,
    turnTimeout: config.turn_timeout_ms ?? undefined,
    emitTeamEvents: config.emit_team_events,
  }
}

/** Writes down a part that may be no component. */
function dumpPart(name: string, part: object): ComponentModel {
  if ("toComponent" in part && typeof part.toComponent === "function")
    return (part as Component).toComponent()
  throw new GloveboxError(
    "COMPONENT_INVALID",
    `${name} cannot be written down as data: ${part.constructor.name} has no toComponent.`,
  )
}
