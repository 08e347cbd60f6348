import { z } from "zod"
import {
  type Component,
  type ComponentDefinition,
  type ComponentModel,
  GloveboxError,
  type JsonObject,
  componentModelSchema,
  defineComponent,
} from "../../core/index.ts"
import { readOptions } from "../../core/read-options.ts"
import { abortable } from "../../internal/abortable.ts"
import { formatIssues } from "../../internal/format-issues.ts"
import {
  type ChatCompletionContext,
  UnboundedChatCompletionContext,
  contextPart,
} from "../../memory/index.ts"
import { type CreateResult, type LLMMessage, modelClientPart } from "../../models/index.ts"
import { type ChatItem, type ChatMessage, TextMessage, ThoughtEvent, isChunk } from "../messages/index.ts"
import { NO_USAGE, SuspendedError, type TaskResult, addUsage, hiddenUsage, response } from "../task/index.ts"
import { teamPart } from "../teams/team-part.ts"
import { BaseChatAgent } from "./base-chat-agent.ts"
import type { TurnOptions, TurnStream } from "./chat-agent.ts"
import { type SocietyOfMindAgentOptions, societyOptionsSchema } from "./society-of-mind/society-options.ts"
import { societyTask, withoutHandoff, withoutImages } from "./society-of-mind/society-task.ts"
import { SocietyTurn, suspendedSocietySchema } from "./society-of-mind/society-turn.ts"

const SILENCE = "The team said nothing about it."

const configSchema = z.object({
  name: z.string(),
  team: componentModelSchema,
  model_client: componentModelSchema,
  description: z.string().nullish(),
  instruction: z.string().nullish(),
  response_prompt: z.string().nullish(),
  model_context: componentModelSchema.nullish(),
})

const jsonObject = z.custom<JsonObject>((value) => typeof value === "object" && value !== null)
const stateSchema = z.strictObject({
  type: z.literal("SocietyOfMindAgentState"),
  version: z.literal(1),
  team: jsonObject,
  context: jsonObject,
  isUsed: z.boolean(),
  waiting: suspendedSocietySchema.optional(),
})

/**
 * Lets a team work on what it is asked, and answers in its own words. Others hear the answer only.
 *
 * @example
 * const society = new SocietyOfMindAgent({ name: "society", team: writers, modelClient })
 * const team = new RoundRobinGroupChat({ participants: [society, translator], maxTurns: 2 })
 */
export class SocietyOfMindAgent extends BaseChatAgent implements Component {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, SocietyOfMindAgent> =
    defineComponent({
      provider: "glovebox.agents.SocietyOfMindAgent",
      aliases: ["autogen_agentchat.agents.SocietyOfMindAgent"],
      type: "agent",
      config: configSchema,
      create: (config, loader) =>
        new SocietyOfMindAgent({
          name: config.name,
          team: teamPart.load(config.team, loader),
          modelClient: modelClientPart.load(config.model_client, loader),
          description: config.description ?? undefined,
          instruction: config.instruction ?? undefined,
          responsePrompt: config.response_prompt ?? undefined,
          modelContext: config.model_context ? contextPart.load(config.model_context, loader) : undefined,
        }),
    })

  readonly #options: z.output<typeof societyOptionsSchema>
  readonly #context: ChatCompletionContext
  /** Whether the team remembers a turn: one that failed or was cancelled, or that waits for approvals. */
  #isUsed = false
  /** The turn in which the team waits for approvals. */
  #waiting: SocietyTurn | undefined

  constructor(options: SocietyOfMindAgentOptions) {
    const read = readOptions("SocietyOfMindAgent", societyOptionsSchema, options)
    super(read.name, read.description)
    this.#options = read
    this.#context = read.modelContext ?? new UnboundedChatCompletionContext()
  }

  override async *onMessagesStream(messages: readonly ChatMessage[], { signal }: TurnOptions): TurnStream {
    const { team } = this.#options
    const waiting = this.#waiting
    const turn = waiting ?? new SocietyTurn()
    const news = turn.ask(messages.map(withoutHandoff))
    const earlier = await this.#context.getMessages()
    if (this.#isUsed && !waiting) await this.#forgetTurn(signal)
    this.#isUsed = true
    const items: ChatItem[] = []
    let result: TaskResult | undefined
    // One that waits knows what was said before.
    const task = waiting ? someOf(news) : societyTask(this.name, earlier, news)
    try {
      for await (const item of team.runStream(task, { signal, outputTaskMessages: false })) {
        if (item.type === "TaskResult") {
          result = item
          continue
        }
        if (!isChunk(item)) items.push(item)
        yield item
      }
    } finally {
      turn.hear(items, result ? hiddenUsage(result.usage, items) : NO_USAGE)
    }
    if (result?.stopKind === "suspended") {
      this.#waiting = turn
      throw new SuspendedError(this.name, result.pending ?? [])
    }
    await this.#forgetTurn(signal)
    const { content, usage, thought } = await this.#answer(earlier, turn, signal)
    if (thought !== undefined && thought !== "") {
      const event = ThoughtEvent({ content: thought, source: this.name })
      items.push(event)
      yield event
    }
    // The calls of the team itself, such as those that chose speakers, are told of nowhere else.
    const answer = TextMessage({ content, source: this.name, modelsUsage: addUsage(turn.usage, usage) })
    // Only now: a turn that fails is given again, whole.
    for (const message of turn.asked) await this.#context.addMessage(message)
    await this.#context.addMessage({ type: "AssistantMessage", content, source: this.name })
    const last = response(answer, items)
    yield last
    return last
  }

  override async onReset(_options: TurnOptions): Promise<void> {
    await this.#options.team.reset()
    this.#isUsed = false
    this.#waiting = undefined
    await this.#context.clear()
  }

  override async onPause(): Promise<void> {
    await this.#options.team.pause()
  }

  override async onResume(): Promise<void> {
    await this.#options.team.resume()
  }

  override async saveState(): Promise<JsonObject> {
    return {
      type: "SocietyOfMindAgentState",
      version: 1,
      team: await this.#options.team.saveState(),
      context: await this.#context.saveState(),
      isUsed: this.#isUsed,
      ...(this.#waiting && { waiting: toJson(this.#waiting.save()) }),
    }
  }

  override async loadState(state: JsonObject): Promise<void> {
    const { data, error } = stateSchema.safeParse(state)
    if (error) {
      throw new GloveboxError(
        "STATE_INVALID",
        `This is no state of a SocietyOfMindAgent: ${formatIssues(error.issues)}`,
      )
    }
    const before = await this.#context.saveState()
    await this.#context.loadState(data.context)
    try {
      await this.#options.team.loadState(data.team)
    } catch (failure) {
      await this.#context.loadState(before)
      throw failure
    }
    this.#isUsed = data.isUsed
    this.#waiting = data.waiting && SocietyTurn.load(data.waiting)
  }

  override async close(): Promise<void> {
    await this.#options.team.close()
  }

  toComponent(): ComponentModel {
    const { team, modelClient, instruction, responsePrompt, modelContext } = this.#options
    return SocietyOfMindAgent.definition.dump({
      name: this.name,
      team: teamPart.dump(team, "team"),
      model_client: modelClientPart.dump(modelClient, "modelClient"),
      description: this.description,
      instruction,
      response_prompt: responsePrompt,
      model_context: modelContext ? contextPart.dump(modelContext, "modelContext") : null,
    })
  }

  async #answer(
    earlier: readonly LLMMessage[],
    { asked, discussion }: SocietyTurn,
    signal: AbortSignal,
  ): Promise<Pick<CreateResult, "thought"> & { content: string; usage?: CreateResult["usage"] }> {
    if (discussion.length === 0) return { content: SILENCE }
    const { modelClient, instruction, responsePrompt } = this.#options
    const messages: LLMMessage[] = [
      ...(instruction === "" ? [] : [{ type: "SystemMessage", content: instruction } as const]),
      ...earlier,
      ...asked,
      ...discussion,
      { type: "UserMessage", content: responsePrompt, source: this.name },
    ]
    const shown = modelClient.modelInfo.vision ? messages : messages.map(withoutImages)
    const { content, usage, thought } = await abortable(modelClient.create(shown, { signal }), signal)
    if (typeof content === "string") return { content, usage, thought }
    throw new GloveboxError("OUTPUT_INVALID", `The model of ${this.name} called tools, and it has none.`)
  }

  async #forgetTurn(signal: AbortSignal): Promise<void> {
    await abortable(this.#options.team.reset(), signal)
    this.#isUsed = false
    this.#waiting = undefined
  }
}

function someOf(messages: readonly ChatMessage[]): readonly ChatMessage[] | undefined {
  return messages.length === 0 ? undefined : messages
}

function toJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject
}
