import { z } from "zod"
import {
  type ComponentDefinition,
  type ComponentModel,
  GloveboxError,
  componentModelSchema,
  defineComponent,
} from "../../../core/index.ts"
import { readOptions } from "../../../core/read-options.ts"
import { type ChatCompletionClient, modelClientPart } from "../../../models/index.ts"
import type { ChatAgent } from "../../agents/chat-agent.ts"
import { BaseGroupChat } from "../base-group-chat.ts"
import { checkParticipants } from "../participant.ts"
import { dumpTeam, loadTeam, teamConfigShape } from "../team-component.ts"
import { type TeamOptions, teamOptionsShape } from "../team-options.ts"
import { ORCHESTRATOR } from "./lead-model.ts"
import { Orchestrator } from "./orchestrator.ts"

export interface MagenticOneGroupChatOptions extends TeamOptions {
  /** Agents only; their descriptions tell the leader what to give them to do. */
  readonly participants: readonly ChatAgent[]
  /** Plans, decides who does what, and writes the answer. */
  readonly modelClient: ChatCompletionClient
  /** How often an agent is given the word in a run; then the answer is written from what there is. @default 20 */
  readonly maxTurns?: number | undefined
  /** How often the team may be stuck before another plan is made. @default 3 */
  readonly maxStalls?: number | undefined
  /** Asks for the answer; `{task}` stands for the request. @default a few words */
  readonly finalAnswerPrompt?: string | undefined
}

const NAME = "MagenticOneGroupChat"

const schema = z.strictObject({
  ...teamOptionsShape,
  modelClient: z.custom<ChatCompletionClient>(
    (value) => typeof value === "object" && value !== null && "create" in value && "modelInfo" in value,
    "is no model client",
  ),
  maxTurns: z.int().min(1).default(20),
  maxStalls: z.int().min(1).default(3),
  finalAnswerPrompt: z.string().min(1).optional(),
})

const configSchema = z.object({
  ...teamConfigShape,
  model_client: componentModelSchema,
  max_stalls: z.int().min(1).nullish(),
  final_answer_prompt: z.string().min(1).nullish(),
})

/**
 * Led by a model that plans the work, gives each agent its part, makes another plan when the team is stuck, and writes
 * the answer.
 *
 * @example
 * const team = new MagenticOneGroupChat({ participants: [researcher, coder], modelClient })
 * const { messages } = await team.run("Which of these three libraries is the fastest? Measure it.")
 */
export class MagenticOneGroupChat extends BaseGroupChat {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, MagenticOneGroupChat> =
    defineComponent({
      provider: "glovebox.teams.MagenticOneGroupChat",
      aliases: ["autogen_agentchat.teams.MagenticOneGroupChat"],
      type: "team",
      description: "A model plans the work and leads the team.",
      config: configSchema,
      create: (config, loader) => {
        const team = loadTeam(config, loader)
        return new MagenticOneGroupChat({
          ...team,
          // What is no agent is refused where the team is made.
          participants: team.participants as readonly ChatAgent[],
          modelClient: modelClientPart.load(config.model_client, loader),
          maxStalls: config.max_stalls ?? undefined,
          finalAnswerPrompt: config.final_answer_prompt ?? undefined,
        })
      },
    })

  readonly #settings: Pick<
    z.output<typeof schema>,
    "modelClient" | "maxTurns" | "maxStalls" | "finalAnswerPrompt"
  >

  constructor(options: MagenticOneGroupChatOptions) {
    const { modelClient, maxTurns, maxStalls, finalAnswerPrompt, ...team } = readOptions(
      NAME,
      schema,
      options,
    )
    const { participants } = options
    checkParticipants(NAME, participants, { agentsOnly: true })
    const speakers = participants.map(({ name }) => name)
    if (speakers.includes(ORCHESTRATOR)) {
      throw new GloveboxError(
        "TEAM_INVALID",
        `${ORCHESTRATOR} is who leads ${NAME}. Give the agent another name.`,
      )
    }
    const settings = { modelClient, maxTurns, maxStalls, finalAnswerPrompt }
    // The turns are counted by who leads, because an answer is to be written after the last one.
    super(participants, team, new Orchestrator({ ...settings, speakers }))
    this.#settings = settings
  }

  override toComponent(): ComponentModel {
    const { modelClient, maxTurns, maxStalls, finalAnswerPrompt } = this.#settings
    return MagenticOneGroupChat.definition.dump({
      ...dumpTeam(this.participants, { ...this.options, maxTurns }),
      model_client: modelClientPart.dump(modelClient, "modelClient"),
      max_stalls: maxStalls,
      final_answer_prompt: finalAnswerPrompt ?? null,
    })
  }
}
