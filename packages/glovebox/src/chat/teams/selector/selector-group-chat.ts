import { z } from "zod"
import {
  type ComponentDefinition,
  type ComponentModel,
  GloveboxError,
  componentModelSchema,
  defineComponent,
} from "../../../core/index.ts"
import { readOptions } from "../../../core/read-options.ts"
import { describe } from "../../../internal/describe.ts"
import {
  type ChatCompletionContext,
  UnboundedChatCompletionContext,
  contextPart,
} from "../../../memory/index.ts"
import type { ChatCompletionClient } from "../../../models/index.ts"
import { modelClientPart } from "../../../models/model-client-part.ts"
import { BaseGroupChat } from "../base-group-chat.ts"
import { type Participant, checkParticipants } from "../participant.ts"
import { dumpTeam, loadTeam, teamConfigShape } from "../team-component.ts"
import { type TeamOptions, teamOptionsShape } from "../team-options.ts"
import { SELECTOR_PROMPT } from "./selection-prompt.ts"
import { type CandidateFunc, type SelectorFunc, SelectorPolicy } from "./selector-policy.ts"

export interface SelectorGroupChatOptions extends TeamOptions {
  /** One who is alone speaks until the condition or `maxTurns`; with neither, once a run. */
  readonly participants: readonly Participant[]
  /** Chooses who speaks next; it is asked only where there is a choice. */
  readonly modelClient: ChatCompletionClient
  /** What it is asked: `{roles}`, `{participants}` (who may speak) and `{history}` are filled in. @default a prompt of the library */
  readonly selectorPrompt?: string | undefined
  /** Whether somebody may speak twice in a row. @default false */
  readonly allowRepeatedSpeaker?: boolean | undefined
  /** How often the model is asked for one choice, with what was wrong before; then the next candidate in turn speaks. @default 3 */
  readonly maxSelectorAttempts?: number | undefined
  /** Chooses in the model's place; the model does when it returns nothing. */
  readonly selectorFunc?: SelectorFunc | undefined
  /** Says who may be chosen, in place of `allowRepeatedSpeaker`. */
  readonly candidateFunc?: CandidateFunc | undefined
  /** What the model is shown of the conversation; it belongs to the team, which adds to it and clears it. @default all of it */
  readonly modelContext?: ChatCompletionContext | undefined
  /** Whether the stream shows the model's choice as it is written, where it shows team events. @default false */
  readonly modelClientStreaming?: boolean | undefined
}

const configSchema = z.object({
  ...teamConfigShape,
  model_client: componentModelSchema,
  selector_prompt: z.string().default(SELECTOR_PROMPT),
  allow_repeated_speaker: z.boolean().default(false),
  max_selector_attempts: z.int().min(1).default(3),
  model_client_streaming: z.boolean().default(false),
  model_context: componentModelSchema.nullish(),
})

function having<T>(what: string, methods: readonly (keyof T & string)[]): z.ZodType<T, T> {
  const fits = (value: unknown): boolean =>
    typeof value === "object" &&
    value !== null &&
    methods.every((method) => method in value && typeof (value as T)[method] === "function")
  return z.custom<T>(fits, { error: ({ input }) => `${describe(input)} is no ${what}` })
}

function functionOf<T extends SelectorFunc | CandidateFunc>(): z.ZodType<T, T> {
  return z.custom<T>((value) => typeof value === "function", "must be a function")
}

const schema = z.strictObject({
  ...teamOptionsShape,
  modelClient: having<ChatCompletionClient>("model client", ["create", "createStream"]),
  selectorPrompt: z.string().min(1).default(SELECTOR_PROMPT),
  allowRepeatedSpeaker: z.boolean().default(false),
  maxSelectorAttempts: z.int().min(1).default(3),
  selectorFunc: functionOf<SelectorFunc>().optional(),
  candidateFunc: functionOf<CandidateFunc>().optional(),
  modelContext: having<ChatCompletionContext>("model context", [
    "addMessage",
    "getMessages",
    "clear",
  ]).optional(),
  modelClientStreaming: z.boolean().default(false),
})

/**
 * A model chooses who speaks next, or a function does.
 *
 * @example
 * const team = new SelectorGroupChat({
 *   participants: [planner, coder, reviewer],
 *   modelClient,
 *   candidateFunc: (thread) => (thread.at(-1)?.source === "coder" ? ["reviewer"] : ["planner", "coder"]),
 *   terminationCondition: new TextMentionTermination("APPROVED"),
 * })
 */
export class SelectorGroupChat extends BaseGroupChat {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, SelectorGroupChat> =
    defineComponent({
      provider: "glovebox.teams.SelectorGroupChat",
      aliases: ["autogen_agentchat.teams.SelectorGroupChat"],
      type: "team",
      description: "A model chooses who speaks next.",
      config: configSchema,
      create: (config, loader) =>
        new SelectorGroupChat({
          ...loadTeam(config, loader),
          modelClient: modelClientPart.load(config.model_client, loader),
          selectorPrompt: config.selector_prompt,
          allowRepeatedSpeaker: config.allow_repeated_speaker,
          maxSelectorAttempts: config.max_selector_attempts,
          modelClientStreaming: config.model_client_streaming,
          modelContext: config.model_context ? contextPart.load(config.model_context, loader) : undefined,
        }),
    })

  readonly #selector: z.output<typeof schema>

  constructor(options: SelectorGroupChatOptions) {
    const read = readOptions("SelectorGroupChat", schema, options, { otherNames: { agents: "participants" } })
    const { participants } = options
    checkParticipants("SelectorGroupChat", participants)
    const { terminationCondition, maxTurns, allowRepeatedSpeaker, selectorFunc, candidateFunc } = read
    const policy = new SelectorPolicy({
      team: read.name ?? new.target.name,
      names: participants.map(({ name }) => name),
      modelClient: read.modelClient,
      selectorPrompt: read.selectorPrompt,
      maxSelectorAttempts: read.maxSelectorAttempts,
      modelClientStreaming: read.modelClientStreaming,
      modelContext: read.modelContext ?? new UnboundedChatCompletionContext(),
      isOnceIfAlone: !terminationCondition && maxTurns === undefined && !allowRepeatedSpeaker,
      allowRepeatedSpeaker,
      selectorFunc,
      candidateFunc,
    })
    super(participants, read, policy)
    this.#selector = read
  }

  override toComponent(): ComponentModel {
    const { modelClient, modelContext, ...rest } = this.#selector
    for (const option of ["selectorFunc", "candidateFunc"] as const) {
      if (!rest[option]) continue
      throw new GloveboxError(
        "COMPONENT_INVALID",
        `${option} of ${this.name} is a function, which data cannot hold. Make such a team in the program.`,
      )
    }
    return SelectorGroupChat.definition.dump({
      ...dumpTeam(this.participants, this.options),
      model_client: modelClientPart.dump(modelClient, `modelClient of ${this.name}`),
      selector_prompt: rest.selectorPrompt,
      allow_repeated_speaker: rest.allowRepeatedSpeaker,
      max_selector_attempts: rest.maxSelectorAttempts,
      model_client_streaming: rest.modelClientStreaming,
      model_context: modelContext ? contextPart.dump(modelContext, `modelContext of ${this.name}`) : null,
    })
  }
}
