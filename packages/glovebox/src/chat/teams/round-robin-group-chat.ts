import { z } from "zod"
import { type ComponentModel, GloveboxError, type JsonObject, defineComponent } from "../../core/index.ts"
import { readOptions } from "../../core/read-options.ts"
import { BaseGroupChat } from "./base-group-chat.ts"
import { type Participant, checkParticipants } from "./participant.ts"
import type { Floor, NextSpeakers, SpeakerPolicy } from "./speaker-policy.ts"
import { dumpTeam, loadTeam, teamConfigShape } from "./team-component.ts"
import { type TeamOptions, teamOptionsShape } from "./team-options.ts"

export interface RoundRobinGroupChatOptions extends TeamOptions {
  /** In the order in which they speak. */
  readonly participants: readonly Participant[]
}

const schema = z.strictObject(teamOptionsShape)

/**
 * Everybody speaks in turn.
 *
 * @example
 * const team = new RoundRobinGroupChat({
 *   participants: [writer, critic],
 *   terminationCondition: new TextMentionTermination("APPROVED").or(new MaxMessageTermination(10)),
 * })
 * const { messages, stopReason } = await team.run("Write a haiku about glass.")
 */
export class RoundRobinGroupChat extends BaseGroupChat {
  static readonly definition = defineComponent({
    provider: "glovebox.teams.RoundRobinGroupChat",
    aliases: ["autogen_agentchat.teams.RoundRobinGroupChat"],
    type: "team",
    description: "Everybody speaks in turn.",
    config: z.object(teamConfigShape),
    create: (config, loader) => new RoundRobinGroupChat(loadTeam(config, loader)),
  })

  constructor(options: RoundRobinGroupChatOptions) {
    const read = readOptions("RoundRobinGroupChat", schema, options)
    checkParticipants("RoundRobinGroupChat", options.participants)
    super(options.participants, read, new RoundRobin())
  }

  override toComponent(): ComponentModel {
    return RoundRobinGroupChat.definition.dump(dumpTeam(this.participants, this.options))
  }
}

class RoundRobin implements SpeakerPolicy {
  #next = 0

  next({ participants }: Floor): NextSpeakers {
    const speaker = participants[this.#next % participants.length]
    return { speakers: speaker ? [speaker.name] : [] }
  }

  finished(): void {
    // Whoever was interrupted speaks again.
    this.#next += 1
  }

  reset(): void {
    this.#next = 0
  }

  saveState(): JsonObject {
    return { next: this.#next }
  }

  loadState({ next }: JsonObject): void {
    if (typeof next !== "number" || !Number.isInteger(next) || next < 0) {
      throw new GloveboxError("STATE_INVALID", "This is no state of a round robin.")
    }
    this.#next = next
  }
}
