import { randomUUID } from "node:crypto"
import { z } from "zod"
import {
  type AgentId,
  type AgentRuntime,
  GloveboxError,
  type JsonObject,
  type Message,
  RoutedAgent,
  agentId,
} from "../../../core/index.ts"
import { checkAgentId } from "../../../core/agent-id.ts"
import { readOptions } from "../../../core/read-options.ts"
import { AsyncQueue } from "../../../internal/async-queue.ts"
import { duration } from "../../../policy/amount-schema.ts"
import type { AnyChatMessageType, ChatItem, ChatMessage } from "../../messages/index.ts"
import { WireItems } from "../../messages/wire-items.ts"
import { SuspendedError, response } from "../../task/index.ts"
import { BaseChatAgent } from "../base-chat-agent.ts"
import type { TurnOptions, TurnStream } from "../chat-agent.ts"
import {
  REMOTE_CHAT_MESSAGES,
  RemoteChatItem,
  RemoteChatPause,
  RemoteChatReset,
  RemoteChatResponse,
  RemoteChatTurn,
} from "./remote-chat-messages.ts"

export interface RemoteChatAgentOptions {
  readonly name: string
  /** @default "An agent elsewhere." */
  readonly description?: string | undefined
  /** Through which it is reached. */
  readonly runtime: AgentRuntime
  /** Of the agent at the other end, which `serveChatAgent` serves there. */
  readonly agentId: AgentId
  /** How long a turn may take, as "5m" or in milliseconds. @default no bound */
  readonly timeout?: string | number | undefined
  /** The types of messages it may answer with. @default ["TextMessage"] */
  readonly producedMessageTypes?: readonly string[] | undefined
  /** Types of messages of one's own that it says. @default [] */
  readonly customMessageTypes?: readonly AnyChatMessageType[] | undefined
}

const LONGEST_TIMER_MS = 2 ** 31 - 1
// So many items may wait for the reader before the other end waits for it too.
const MOST_WAITING = 64

const optionsSchema = z.strictObject({
  name: z.string(),
  description: z.string().default("An agent elsewhere."),
  runtime: z.custom<AgentRuntime>(
    (value) => typeof value === "object" && value !== null && "registerInstance" in value,
    "is no runtime",
  ),
  agentId: z.custom<AgentId>(isAgentId, "is no agent id, such as agentId(type, key)"),
  timeout: duration(1, LONGEST_TIMER_MS).default(LONGEST_TIMER_MS),
  producedMessageTypes: z.array(z.string()).readonly().default(["TextMessage"]),
  customMessageTypes: z
    .array(z.custom<AnyChatMessageType>((value) => typeof value === "function", "is no message type"))
    .default([]),
})

/**
 * Stands in a team for an agent that lives elsewhere: at another worker of the runtime, or in another language. What
 * happens there is told here as it happens; who stops listening stops it.
 *
 * @example
 * const writer = new RemoteChatAgent({ name: "writer", runtime: worker, agentId: agentId("writer", "book-7") })
 * const team = new RoundRobinGroupChat({ participants: [writer, critic], maxTurns: 4 })
 */
export class RemoteChatAgent extends BaseChatAgent {
  readonly #options: z.output<typeof optionsSchema>
  readonly #wire: WireItems
  readonly #outputId = agentId(`remote-chat_${randomUUID()}`, "output")
  /** The turns that are under way, by their ids. */
  readonly #turns = new Map<string, AsyncQueue<ChatItem>>()
  #entered: Promise<void> | undefined

  constructor(options: RemoteChatAgentOptions) {
    const read = readOptions("RemoteChatAgent", optionsSchema, options)
    super(read.name, read.description)
    this.#options = read
    this.#wire = new WireItems(read.customMessageTypes)
  }

  override get producedMessageTypes(): readonly string[] {
    return this.#options.producedMessageTypes
  }

  override async *onMessagesStream(
    messages: readonly ChatMessage[],
    { signal, isRetry = false }: TurnOptions,
  ): TurnStream {
    await this.#enter()
    const turn = randomUUID()
    const queue = new AsyncQueue<ChatItem>({ limit: MOST_WAITING })
    this.#turns.set(turn, queue)
    const left = new AbortController()
    const answer = this.#ask(messages, isRetry, turn, AbortSignal.any([signal, left.signal]))
    answer.then(
      () => queue.close(),
      (error: unknown) => queue.fail(error),
    )
    const told = new Set<string>()
    try {
      for await (const item of queue) {
        told.add(item.id)
        yield item
      }
      const { message, items, pending, stop } = await answer
      const happened = this.#wire.items(items ?? [])
      if (pending) {
        yield* happened.filter(({ id }) => !told.has(id))
        throw new SuspendedError(this.name, pending)
      }
      const last = response(this.#wire.message(message), happened, {
        stopKind: stop?.kind,
        stopReason: stop?.reason,
      })
      yield last
      return last
    } finally {
      this.#turns.delete(turn)
      left.abort(new GloveboxError("RUN_LEFT", `The turn of ${this.name} was left.`))
    }
  }

  override async onReset({ signal }: TurnOptions): Promise<void> {
    await this.#tell(RemoteChatReset({}), signal)
  }

  override async onPause(): Promise<void> {
    await this.#tell(RemoteChatPause({ paused: true }))
  }

  override async onResume(): Promise<void> {
    await this.#tell(RemoteChatPause({ paused: false }))
  }

  /** The state of the agent at the other end: one that lives here could go on from it. */
  override async saveState(): Promise<JsonObject> {
    return this.#options.runtime.saveAgentState(this.#options.agentId)
  }

  override async loadState(state: JsonObject): Promise<void> {
    await this.#options.runtime.loadAgentState(this.#options.agentId, state)
  }

  /** Ends this end only: the other belongs to whoever serves it. */
  override async close(): Promise<void> {
    const entered = this.#entered
    this.#entered = undefined
    if (!entered) return
    try {
      await entered
      await this.#options.runtime.removeAgent(this.#outputId)
    } catch (error) {
      // With a runtime that was closed before, nobody is left in it.
      if (!GloveboxError.is(error, "RUNTIME_STOPPED")) throw error
    }
  }

  async #ask(
    messages: readonly ChatMessage[],
    retry: boolean,
    turn: string,
    signal: AbortSignal,
  ): Promise<ReturnType<typeof RemoteChatResponse>> {
    const { runtime, agentId: far, timeout: timeoutMs } = this.#options
    const request = RemoteChatTurn({
      messages: this.#wire.leave(messages),
      retry,
      turn,
      output: this.#outputId,
    })
    return runtime.send(request, far, { signal, timeoutMs, expect: RemoteChatResponse })
  }

  async #tell(message: Message, signal?: AbortSignal): Promise<void> {
    const { runtime, agentId: far } = this.#options
    await this.#enter()
    await runtime.send(message, far, { signal })
  }

  async #enter(): Promise<void> {
    this.#entered ??= this.#register().catch((error: unknown) => {
      this.#entered = undefined
      throw error
    })
    await this.#entered
  }

  async #register(): Promise<void> {
    const { runtime } = this.#options
    for (const type of REMOTE_CHAT_MESSAGES) runtime.addMessageType(type)
    await runtime.registerInstance(
      this.#outputId,
      new ItemsAgent(async (turn, value) => {
        const queue = this.#turns.get(turn)
        // What comes late belongs to a turn that nobody reads.
        if (queue && !queue.push(this.#wire.item(value))) await queue.room()
      }),
    )
  }
}

/** Takes what happens at the other end. */
class ItemsAgent extends RoutedAgent {
  constructor(take: (turn: string, item: unknown) => Promise<void>) {
    super("Takes what an agent elsewhere tells.")
    this.on(RemoteChatItem, async ({ turn, item }) => take(turn, item))
  }
}

function isAgentId(value: unknown): boolean {
  try {
    checkAgentId(value)
    return true
  } catch {
    return false
  }
}
