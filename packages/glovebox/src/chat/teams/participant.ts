import { GloveboxError } from "../../core/index.ts"
import { describe } from "../../internal/describe.ts"
import { checkAgentName } from "../agents/agent-name.ts"
import type { ChatAgent } from "../agents/chat-agent.ts"
import type { Team } from "./team.ts"

/** An agent, or a team that speaks as one. */
export type Participant = ChatAgent | Team

export function isChatAgent(participant: Participant): participant is ChatAgent {
  return "onMessagesStream" in participant
}

/** Checks that a team can be made of them. */
export function checkParticipants(
  team: string,
  participants: readonly Participant[],
  { atLeast = 1, agentsOnly = false }: { readonly atLeast?: number; readonly agentsOnly?: boolean } = {},
): void {
  const given: unknown = participants
  if (!Array.isArray(given)) throw invalid(`The participants of ${team} are ${describe(given)}, not a list.`)
  if (given.length < atLeast) {
    throw invalid(`${team} has ${given.length} participants and needs at least ${atLeast}.`)
  }
  const names = new Set<string>()
  for (const participant of participants) {
    const value: unknown = participant
    if (typeof value !== "object" || value === null || !("runStream" in value)) {
      throw invalid(`${describe(value)} is no agent and no team, so it cannot be in ${team}.`)
    }
    const name = checkAgentName(participant.name)
    if (names.has(name)) throw invalid(`${team} has two participants called ${name}. Give each its own name.`)
    names.add(name)
    if (agentsOnly && !isChatAgent(participant)) {
      throw invalid(`${name} is a team, and ${team} takes agents only. Wrap it in a SocietyOfMindAgent.`)
    }
  }
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("TEAM_INVALID", message)
}
