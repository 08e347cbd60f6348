import { z } from "zod"
import { type ComponentModel, GloveboxError, type JsonObject, defineComponent } from "../../core/index.ts"
import { readOptions } from "../../core/read-options.ts"
import type { ChatAgent } from "../agents/chat-agent.ts"
import { type ChatMessage, HandoffMessage } from "../messages/index.ts"
import { BaseGroupChat } from "./base-group-chat.ts"
import { checkParticipants } from "./participant.ts"
import type { NextSpeakers, SpeakerPolicy } from "./speaker-policy.ts"
import { dumpTeam, loadTeam, teamConfigShape } from "./team-component.ts"
import { type TeamOptions, teamOptionsShape } from "./team-options.ts"

export interface SwarmOptions extends TeamOptions {
  /** The first begins, and must be able to hand off. */
  readonly participants: readonly ChatAgent[]
}

const schema = z.strictObject(teamOptionsShape)

/**
 * Agents pass the word to each other by handoffs; whoever has it speaks until it is passed on.
 *
 * @example
 * const team = new Swarm({ participants: [triage, refunds], terminationCondition: new HandoffTermination("user") })
 * await team.run("I want my money back.")
 * await team.run(HandoffMessage({ source: "user", target: "refunds", content: "Order 17." }))
 */
export class Swarm extends BaseGroupChat {
  static readonly definition = defineComponent({
    provider: "glovebox.teams.Swarm",
    aliases: ["autogen_agentchat.teams.Swarm"],
    type: "team",
    description: "Agents pass the word to each other by handoffs.",
    config: z.object(teamConfigShape),
    // What is no agent is refused where the team is made.
    create: (config, loader) => new Swarm(loadTeam(config, loader) as SwarmOptions),
  })

  constructor(options: SwarmOptions) {
    const read = readOptions("Swarm", schema, options, { otherNames: { agents: "participants" } })
    const { participants } = options
    checkParticipants("Swarm", participants, { agentsOnly: true })
    const [first] = participants
    if (!first?.producedMessageTypes.includes("HandoffMessage")) {
      throw new GloveboxError(
        "TEAM_INVALID",
        `${first?.name} begins in Swarm and cannot hand off: its producedMessageTypes have no HandoffMessage. Give it handoffs.`,
      )
    }
    super(
      participants,
      read,
      new LatestHandoff(
        read.name ?? new.target.name,
        participants.map(({ name }) => name),
      ),
    )
  }

  override toComponent(): ComponentModel {
    return Swarm.definition.dump(dumpTeam(this.participants, this.options))
  }
}

const handoffSchema = z.object({ source: z.string(), target: z.string() })
const stateSchema = z.strictObject({ handoff: handoffSchema.nullable() })

/** The target of the latest handoff has the word; before the first one, the first participant. */
class LatestHandoff implements SpeakerPolicy {
  readonly #team: string
  readonly #names: readonly string[]
  #handoff: z.infer<typeof handoffSchema> | undefined

  constructor(team: string, names: readonly string[]) {
    this.#team = team
    this.#names = names
  }

  begin(task: readonly ChatMessage[]): void {
    const given = latest(task)
    const howToGoOn = `Go on with HandoffMessage({ source: "user", target, content }) to one of ${this.#names.join(", ")}.`
    if (given && !this.#names.includes(given.target)) {
      throw new GloveboxError(
        "TASK_INVALID",
        `The task hands off to ${given.target}, who is not in ${this.#team}. ${howToGoOn}`,
      )
    }
    if (!given && this.#handoff && !this.#names.includes(this.#handoff.target)) {
      const { source, target } = this.#handoff
      throw new GloveboxError(
        "SPEAKER_INVALID",
        `${source} handed off to ${target}, who is not in ${this.#team}, so nobody there has the word. ${howToGoOn}`,
      )
    }
    this.#take(given)
  }

  next(): NextSpeakers {
    const { source, target } = this.#handoff ?? {}
    if (target === undefined) return { speakers: this.#names.slice(0, 1) }
    if (this.#names.includes(target)) return { speakers: [target] }
    // Conditions were asked before, so that a handoff to a user who is expected ends the run without an error.
    throw new GloveboxError(
      "SPEAKER_INVALID",
      `${source} handed off to ${target}, who is not in ${this.#team}. In it: ${this.#names.join(", ")}. ` +
        `To end the run there, use new HandoffTermination(${JSON.stringify(target)}).`,
    )
  }

  finished(_speaker: string, said: readonly ChatMessage[]): void {
    this.#take(latest(said))
  }

  reset(): void {
    this.#handoff = undefined
  }

  saveState(): JsonObject {
    return { handoff: this.#handoff ?? null }
  }

  loadState(state: JsonObject): void {
    const { data, error } = stateSchema.safeParse(state)
    if (error) throw new GloveboxError("STATE_INVALID", "This is no state of a swarm.")
    this.#handoff = data.handoff ?? undefined
  }

  #take(handoff: HandoffMessage | undefined): void {
    if (handoff) this.#handoff = { source: handoff.source, target: handoff.target }
  }
}

function latest(messages: readonly ChatMessage[]): HandoffMessage | undefined {
  return messages.findLast((message) => HandoffMessage.is(message))
}
