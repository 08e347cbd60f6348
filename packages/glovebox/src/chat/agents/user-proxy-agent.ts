import { randomUUID } from "node:crypto"
import { z } from "zod"
import {
  type Component,
  type ComponentDefinition,
  type ComponentModel,
  GloveboxError,
  defineComponent,
} from "../../core/index.ts"
import { readOptions } from "../../core/read-options.ts"
import { abortable } from "../../internal/abortable.ts"
import { describe } from "../../internal/describe.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { duration } from "../../policy/amount-schema.ts"
import { formatDuration } from "../../policy/index.ts"
import { type ChatMessage, HandoffMessage, TextMessage, UserInputRequestedEvent } from "../messages/index.ts"
import { response } from "../task/index.ts"
import { BaseChatAgent } from "./base-chat-agent.ts"
import type { TurnOptions, TurnStream } from "./chat-agent.ts"
import { terminalInput } from "./terminal-input.ts"
import type { UserInput } from "./user-input.ts"

export interface UserProxyAgentOptions {
  readonly name: string
  /** @default "A person." */
  readonly description?: string | undefined
  /** Asks the person. @default reads a line from the terminal */
  readonly input?: UserInput | undefined
  /** @default "Your answer: " */
  readonly prompt?: string | undefined
  /** How long to wait for the answer, as "5m" or in milliseconds. @default no bound */
  readonly timeout?: string | number | undefined
}

const LONGEST_TIMER_MS = 2 ** 31 - 1

const optionsSchema = z.strictObject({
  name: z.string(),
  description: z.string().default("A person."),
  input: z.custom<UserInput>((value) => typeof value === "function", "must be a function").optional(),
  prompt: z.string().default("Your answer: "),
  timeout: duration(1, LONGEST_TIMER_MS).optional(),
})

type ReadOptions = z.output<typeof optionsSchema>

const configSchema = z.object({
  name: z.string(),
  description: z.string().nullish(),
  prompt: z.string().nullish(),
  timeout: z.int().positive().nullish(),
  // AutoGen writes it, always as null.
  input_func: z.null().optional(),
})

/**
 * Somebody in the conversation who is a person: in its turn it asks them, and says what they answer. Who was handed the
 * word hands it back.
 *
 * @example
 * const user = new UserProxyAgent({ name: "user", input: async ({ prompt, signal }) => form.ask(prompt, { signal }) })
 */
export class UserProxyAgent extends BaseChatAgent implements Component {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, UserProxyAgent> =
    defineComponent({
      provider: "glovebox.agents.UserProxyAgent",
      aliases: ["autogen_agentchat.agents.UserProxyAgent"],
      type: "agent",
      config: configSchema,
      create: ({ name, description, prompt, timeout }) =>
        new UserProxyAgent({
          name,
          description: description ?? undefined,
          prompt: prompt ?? undefined,
          timeout: timeout ?? undefined,
        }),
    })

  readonly #options: ReadOptions

  constructor(options: UserProxyAgentOptions) {
    const read = readOptions("UserProxyAgent", optionsSchema, options, {
      otherNames: { input_func: "input" },
    })
    super(read.name, read.description)
    this.#options = read
  }

  override get producedMessageTypes(): readonly string[] {
    return ["TextMessage", "HandoffMessage"]
  }

  override async *onMessagesStream(messages: readonly ChatMessage[], { signal }: TurnOptions): TurnStream {
    signal.throwIfAborted()
    const handoff = this.#handoffIn(messages)
    const asked = UserInputRequestedEvent({ source: this.name, requestId: randomUUID() })
    // Whoever reads the stream has it before the person is asked.
    yield asked
    const content = await this.#ask(asked.requestId, messages, signal)
    const source = this.name
    const said = handoff
      ? HandoffMessage({ source, target: handoff.source, content })
      : TextMessage({ source, content })
    const answer = response(said, [asked])
    yield answer
    return answer
  }

  toComponent(): ComponentModel {
    const { input, prompt, timeout } = this.#options
    if (input) {
      throw new GloveboxError(
        "COMPONENT_INVALID",
        `input of ${this.name} is a function, which cannot be written down; loaded again, it would ask at the terminal. Make the agent in code.`,
      )
    }
    return UserProxyAgent.definition.dump({
      name: this.name,
      description: this.description,
      prompt,
      timeout,
    })
  }

  #handoffIn(messages: readonly ChatMessage[]): HandoffMessage | undefined {
    const last = messages.at(-1)
    if (last?.type !== "HandoffMessage") return undefined
    if (last.target === this.name) return last
    throw new GloveboxError(
      "AGENT_FAILED",
      `${last.source} handed off to ${last.target}, and it is ${this.name} that was asked to speak.`,
    )
  }

  async #ask(requestId: string, messages: readonly ChatMessage[], signal: AbortSignal): Promise<string> {
    const { input = terminalInput(), prompt, timeout } = this.#options
    const late = new AbortController()
    const timer =
      timeout === undefined ? undefined : setTimeout(() => late.abort(tooLate(this.name, timeout)), timeout)
    const inner = AbortSignal.any([signal, late.signal])
    try {
      const request = { prompt, requestId, agent: this.name, messages, signal: inner }
      const answer: unknown = await abortable(
        Promise.resolve().then(() => input(request)),
        inner,
      )
      if (typeof answer === "string") return answer
      throw new TypeError(`it gave ${describe(answer)}, not a text`)
    } catch (error) {
      signal.throwIfAborted()
      late.signal.throwIfAborted()
      if (GloveboxError.is(error)) throw error
      throw new GloveboxError("AGENT_FAILED", `${this.name} could not be asked: ${errorMessage(error)}`, {
        cause: error,
      })
    } finally {
      clearTimeout(timer)
    }
  }
}

function tooLate(name: string, ms: number): GloveboxError {
  return new GloveboxError("TURN_TIMEOUT", `${name} did not answer within ${formatDuration(ms)}.`)
}
