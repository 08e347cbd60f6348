import { z } from "zod"
import { runInstantiation } from "./ambient-scope.ts"
import {
  type Agent,
  type AgentFactory,
  type AgentId,
  type AgentRuntime,
  type AnyMessageType,
  type CallOptions,
  type ExpectReply,
  GloveboxError,
  type JsonObject,
  type Message,
  type MessageContext,
  type PublishOptions,
  type RegisterOptions,
  type Reply,
  type SendOptions,
  SingleThreadedAgentRuntime,
  type SingleThreadedAgentRuntimeOptions,
  type Subscription,
  type TopicId,
  defineMessage,
  messageTypeOf,
} from "./index.ts"

const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array)
const Parcel = defineMessage(
  "Parcel",
  z.object({ typeName: z.string(), contentType: z.string(), data: bytes }),
)

/** A runtime of one process in which messages and replies are bytes on their way, and errors a code and a text. */
export class WireRuntime implements AgentRuntime, AsyncDisposable {
  readonly inner: SingleThreadedAgentRuntime
  /** The names of the types that were carried. */
  readonly carried = new Set<string>()

  constructor(options?: SingleThreadedAgentRuntimeOptions) {
    this.inner = new SingleThreadedAgentRuntime(options)
    this.inner.start()
  }

  send<Fields extends object, Name extends string>(
    message: Message,
    recipient: AgentId,
    options: SendOptions & ExpectReply<Fields, Name>,
  ): Promise<Message<Fields, Name>>
  send(message: Message, recipient: AgentId, options?: SendOptions): Promise<Reply>
  async send(
    message: Message,
    recipient: AgentId,
    { expect, ...options }: SendOptions & Partial<ExpectReply<object>> = {},
  ): Promise<Reply> {
    const packed = await this.inner.send(this.pack(message), recipient, options)
    const reply = packed && this.unpack(packed)
    if (!expect || expect.is(reply)) return reply
    throw new GloveboxError("REPLY_INVALID", `${messageTypeOf(reply)?.typeName} is no ${expect.typeName}.`)
  }

  async publish(message: Message, topic?: TopicId, options?: PublishOptions): Promise<void> {
    await this.inner.publish(this.pack(message), topic, options)
  }

  async register(type: string, factory: AgentFactory, options?: RegisterOptions): Promise<void> {
    const build: AgentFactory = async (id) => {
      const agent = await runInstantiation({ id, runtime: this }, undefined, undefined, () => factory(id))
      return new FarAgent(agent, this)
    }
    await this.inner.register(type, build, options)
  }

  async registerInstance(id: AgentId, agent: Agent, options?: RegisterOptions): Promise<void> {
    await this.inner.registerInstance(id, new FarAgent(agent, this), options)
  }

  async removeAgent(id: AgentId, options?: CallOptions): Promise<void> {
    await this.inner.removeAgent(id, options)
  }

  addMessageType(type: AnyMessageType): void {
    this.inner.addMessageType(type)
  }

  async addSubscription(subscription: Subscription): Promise<void> {
    await this.inner.addSubscription(subscription)
  }

  async removeSubscription(id: string): Promise<void> {
    await this.inner.removeSubscription(id)
  }

  async agentMetadata(id: AgentId, options?: CallOptions): ReturnType<AgentRuntime["agentMetadata"]> {
    return this.inner.agentMetadata(id, options)
  }

  async saveAgentState(id: AgentId, options?: CallOptions): Promise<JsonObject> {
    return this.inner.saveAgentState(id, options)
  }

  async loadAgentState(id: AgentId, state: JsonObject, options?: CallOptions): Promise<void> {
    await this.inner.loadAgentState(id, state, options)
  }

  async saveState(options?: CallOptions): Promise<JsonObject> {
    return this.inner.saveState(options)
  }

  async loadState(state: JsonObject, options?: CallOptions): Promise<void> {
    await this.inner.loadState(state, options)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.inner.close()
  }

  pack(message: Message): Message {
    this.carried.add(messageTypeOf(message)?.typeName ?? "")
    return Parcel(this.inner.serialization.serialize(message))
  }

  unpack(message: Message): Message {
    if (Parcel.is(message)) return this.inner.serialization.deserialize(message)
    throw new Error("only parcels are on their way")
  }
}

/** The agent at the other end: it sees what was read from bytes, and what it gives is written as bytes. */
class FarAgent implements Agent {
  readonly #agent: Agent
  readonly #runtime: WireRuntime

  constructor(agent: Agent, runtime: WireRuntime) {
    this.#agent = agent
    this.#runtime = runtime
  }

  get id(): AgentId {
    return this.#agent.id
  }

  get metadata(): Agent["metadata"] {
    return this.#agent.metadata
  }

  get messageTypes(): readonly AnyMessageType[] {
    return this.#agent.messageTypes
  }

  bind(id: AgentId): void {
    this.#agent.bind(id, this.#runtime)
  }

  async onMessage(message: Message, context: MessageContext): Promise<Reply> {
    const far = new FarContext(context)
    try {
      const reply = await this.#agent.onMessage(this.#runtime.unpack(message), far)
      return reply ? this.#runtime.pack(reply) : undefined
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      throw new GloveboxError(GloveboxError.is(error) ? error.code : "AGENT_FAILED", text || "no text")
    }
  }

  async saveState(): Promise<JsonObject> {
    return this.#agent.saveState()
  }

  async loadState(state: JsonObject): Promise<void> {
    await this.#agent.loadState(state)
  }

  async close(): Promise<void> {
    await this.#agent.close()
  }
}

/** What a cancellation says is all that arrives of its reason. */
class FarContext implements MessageContext {
  readonly messageId: string
  readonly sender: AgentId | undefined
  readonly topicId: TopicId | undefined
  readonly isRpc: boolean
  readonly #near: MessageContext
  #signal: AbortSignal | undefined

  constructor(near: MessageContext) {
    this.#near = near
    this.messageId = near.messageId
    this.sender = near.sender
    this.topicId = near.topicId
    this.isRpc = near.isRpc
  }

  get signal(): AbortSignal {
    this.#signal ??= farSignal(this.#near.signal)
    return this.#signal
  }
}

function farSignal(near: AbortSignal): AbortSignal {
  const controller = new AbortController()
  const abort = (): void => controller.abort(new GloveboxError("AGENT_FAILED", String(near.reason)))
  // Nothing on a wire is there at once.
  if (near.aborted) abort()
  else near.addEventListener("abort", () => queueMicrotask(abort), { once: true })
  return controller.signal
}
