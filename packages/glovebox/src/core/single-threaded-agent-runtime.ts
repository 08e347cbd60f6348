import { describe } from "../internal/describe.ts"
import { type AgentId, checkAgentId, formatAgentId } from "./agent-id.ts"
import type { AgentMetadata } from "./agent-metadata.ts"
import type {
  AgentFactory,
  AgentRuntime,
  CallOptions,
  ExpectReply,
  PublishOptions,
  RegisterOptions,
  SendOptions,
} from "./agent-runtime.ts"
import type { Agent, Reply } from "./agent.ts"
import { isSavingState, rememberAccess } from "./ambient-scope.ts"
import { defaultTopicId } from "./default-topic-id.ts"
import { GloveboxError } from "./glovebox-error.ts"
import { InterventionChain } from "./intervention-chain.ts"
import type { JsonObject } from "./json.ts"
import { warningLogger } from "./logger.ts"
import type { AnyMessageType, Message } from "./message.ts"
import type { RuntimeEvent } from "./runtime-event.ts"
import { SerializationRegistry } from "./serialization.ts"
import { AgentDirectory } from "./single-threaded/agent-directory.ts"
import { loadAgent, loadAgents, saveAgent, saveAgents } from "./single-threaded/checkpoint.ts"
import { DeliveryLog } from "./single-threaded/delivery-log.ts"
import type { Delivery } from "./single-threaded/delivery.ts"
import { Dispatcher, currentDelivery } from "./single-threaded/dispatcher.ts"
import { embeddingOf } from "./single-threaded/embedding.ts"
import { Lifecycle, type StopOptions } from "./single-threaded/lifecycle.ts"
import { ObservedPromise } from "./single-threaded/observed-promise.ts"
import { DEFAULT_MAILBOX, resolveMailbox } from "./single-threaded/registration.ts"
import {
  type SingleThreadedAgentRuntimeOptions,
  checkAccess,
  checkSignal,
  checkTimeout,
} from "./single-threaded/runtime-options.ts"
import { RuntimeTask } from "./single-threaded/runtime-task.ts"
import { checkPublish, checkSend, expecting } from "./single-threaded/send-checks.ts"
import { type Subscription, type UnboundSubscription, bindSubscription } from "./subscription.ts"
import { SubscriptionTable } from "./subscription-table.ts"
import { RuntimeTracing } from "./telemetry/runtime-tracing.ts"
import type { TopicId } from "./topic-id.ts"

/** Runs agents in this process: one mailbox each, messages in order, every send settled. */
export class SingleThreadedAgentRuntime implements AgentRuntime, AsyncDisposable {
  /** The message types this runtime can write and read. */
  readonly serialization = new SerializationRegistry()
  readonly #subscriptions = new SubscriptionTable()
  readonly #addedSubscriptions = new Set<string>()
  readonly #directory: AgentDirectory
  readonly #dispatcher: Dispatcher
  readonly #lifecycle: Lifecycle
  readonly #log: DeliveryLog
  readonly #sendTimeoutMs: number | undefined

  constructor(options: SingleThreadedAgentRuntimeOptions = {}) {
    checkTimeout("sendTimeoutMs", options.sendTimeoutMs)
    checkAccess(options.access)
    if (options.access) rememberAccess()
    this.#sendTimeoutMs = options.sendTimeoutMs
    const log = new DeliveryLog(options.logger ?? warningLogger)
    const interventions = new InterventionChain(options.interventions ?? [])
    const tracing = new RuntimeTracing(options.tracerProvider)
    const embedding = embeddingOf(options)
    this.#log = log
    this.#directory = new AgentDirectory({
      runtime: embedding?.runtime ?? this,
      mailbox: resolveMailbox(options.mailbox, DEFAULT_MAILBOX),
      access: options.access,
      addMessageType: (type) => this.addMessageType(type),
      onCreated: (agentId) => log.events.emit({ type: "agent-created", agentId }),
      onRemoved: (mailbox, error) => {
        embedding?.onGone(mailbox.id)
        this.#dispatcher.refuseAll(mailbox, error)
      },
      onCreationFailed: (mailbox, error) => {
        embedding?.onGone(mailbox.id)
        log.events.emit({ type: "agent-creation-failed", agentId: mailbox.id, error })
        this.#dispatcher.refuseAll(mailbox, error)
      },
    })
    this.#dispatcher = new Dispatcher({
      directory: this.#directory,
      subscriptions: this.#subscriptions,
      interventions,
      tracing,
      log,
      mayBegin: embedding?.mayBegin,
      onDone: () => this.#lifecycle.afterMessage(),
      onUnhandledException: (error) => {
        if (options.ignoreUnhandledExceptions === false) this.#lifecycle.fail(error)
      },
    })
    this.#lifecycle = new Lifecycle(this.#dispatcher, log.events)
    embedding?.onMade({
      directory: this.#directory,
      dispatcher: this.#dispatcher,
      lifecycle: this.#lifecycle,
      subscriptions: this.#subscriptions,
      interventions,
      tracing,
      log,
    })
  }

  /** Listens to what happens; dispose the result to stop listening. */
  on<Type extends RuntimeEvent["type"]>(
    type: Type,
    listener: (event: Extract<RuntimeEvent, { type: Type }>) => void,
  ): Disposable {
    return this.#log.events.on(type, listener)
  }

  send<Fields extends object, Name extends string>(
    message: Message,
    recipient: AgentId,
    options: SendOptions & ExpectReply<Fields, Name>,
  ): Promise<Message<Fields, Name>>
  send(message: Message, recipient: AgentId, options?: SendOptions): Promise<Reply>
  send(
    message: Message,
    recipient: AgentId,
    options: SendOptions & Partial<ExpectReply<object>> = {},
  ): Promise<Reply> {
    if (!currentDelivery()) {
      return new Promise((resolve, reject) => {
        this.#send(message, recipient, options, resolve, reject)
      })
    }
    // Only a send that its handler waits for can be part of a circle.
    let delivery: Delivery | undefined
    const sent = new ObservedPromise<Reply>((resolve, reject) => {
      delivery = this.#send(message, recipient, options, resolve, reject)
    })
    sent.onObserved = () => delivery && this.#dispatcher.waitedFor(delivery)
    return sent
  }

  async publish(
    message: Message,
    topic: TopicId = defaultTopicId(),
    options: PublishOptions = {},
  ): Promise<void> {
    this.#lifecycle.checkOpen()
    checkPublish(message, topic, options)
    await this.#dispatcher.publish(message, topic, options)
  }

  async register(type: string, factory: AgentFactory, options: RegisterOptions = {}): Promise<void> {
    this.#lifecycle.checkNotClosed()
    this.#directory.register(type, factory, options)
    try {
      this.#subscribeAll(options.subscriptions ?? [], type)
    } catch (error) {
      this.#directory.unregister(type)
      throw error
    }
  }

  async registerInstance(id: AgentId, agent: Agent, options: RegisterOptions = {}): Promise<void> {
    this.#lifecycle.checkNotClosed()
    this.#directory.registerInstance(id, agent, options)
    try {
      // Several instances of a type share its subscriptions.
      const isNew = (subscription: Subscription): boolean => !this.#subscriptions.has(subscription)
      const bound = (options.subscriptions ?? []).map((subscription) =>
        bindSubscription(subscription, id.type),
      )
      this.#subscribeAll(bound.filter(isNew), id.type)
    } catch (error) {
      this.#directory.forget(this.#directory.mailbox(id))
      throw error
    }
  }

  addMessageType(type: AnyMessageType): void {
    this.serialization.addType(type)
  }

  get subscriptions(): readonly Subscription[] {
    return this.#subscriptions.list()
  }

  async addSubscription(subscription: Subscription): Promise<void> {
    this.#lifecycle.checkNotClosed()
    const bound = bindSubscription(subscription)
    if (!this.#directory.has(bound.agentType)) {
      throw new GloveboxError(
        "AGENT_TYPE_UNKNOWN",
        `The subscription is for agent type "${bound.agentType}", which is not registered. Register it first.`,
      )
    }
    this.#subscriptions.add(bound)
    this.#addedSubscriptions.add(bound.id)
  }

  async removeSubscription(id: string): Promise<void> {
    this.#subscriptions.remove(id)
    this.#addedSubscriptions.delete(id)
  }

  /** Begins to deliver; what was sent before has waited. */
  start(): void {
    this.#lifecycle.start()
  }

  /** Resolves once no message waits or is being handled. */
  async whenIdle(options: CallOptions = {}): Promise<void> {
    await this.#lifecycle.whenIdle(options)
  }

  /** Stops at once: ends every send, aborts running handlers and waits a little for them. */
  async stop(options: StopOptions = {}): Promise<void> {
    await this.#lifecycle.stop(options)
  }

  /** Stops when no message waits or is being handled. */
  async stopWhenIdle(options: StopOptions = {}): Promise<void> {
    await this.#lifecycle.stopWhenIdle(options)
  }

  /** Stops when the condition holds; it is asked after each message, and every 100 ms. */
  async stopWhen(condition: () => boolean | Promise<boolean>, options: StopOptions = {}): Promise<void> {
    await this.#lifecycle.stopWhen(condition, options)
  }

  /** Stops, and closes every agent. A closed runtime stays closed. */
  async close(): Promise<void> {
    await this.#lifecycle.close(() => this.#directory.close())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async removeAgent(id: AgentId, options: CallOptions = {}): Promise<void> {
    checkAgentId(id)
    this.#lifecycle.checkNotClosed()
    if (!this.#directory.exists(id)) return
    await this.#betweenMessages(id, options, async () => this.#directory.remove(this.#directory.mailbox(id)))
  }

  async agentMetadata(id: AgentId, options: CallOptions = {}): Promise<AgentMetadata> {
    return (await this.#agent(id, options)).metadata
  }

  /** The agent object itself, built if need be; for tests and for agents of this process only. */
  async getUnderlyingAgent<T extends Agent>(
    id: AgentId,
    type: abstract new (...args: never) => T,
    options: CallOptions = {},
  ): Promise<T> {
    if (typeof type !== "function") {
      throw new GloveboxError("OPTION_INVALID", `${describe(type)} is not a class. Pass the agent's class.`)
    }
    const agent = await this.#agent(id, options)
    if (agent instanceof type) return agent
    throw new GloveboxError(
      "AGENT_INVALID",
      `Agent ${formatAgentId(id)} is a ${agent.constructor.name}, not a ${type.name}.`,
    )
  }

  async saveAgentState(id: AgentId, options: CallOptions = {}): Promise<JsonObject> {
    let state: JsonObject = {}
    await this.#betweenMessages(id, options, async (agent) => {
      state = await saveAgent(this.#directory.mailbox(id), agent)
    })
    return state
  }

  async loadAgentState(id: AgentId, state: JsonObject, options: CallOptions = {}): Promise<void> {
    await this.#betweenMessages(id, options, (agent) => loadAgent(formatAgentId(id), agent, state))
  }

  /** A checkpoint of the whole runtime; only while it is idle, so that nothing is left out. */
  async saveState(options: CallOptions = {}): Promise<JsonObject> {
    const added = this.#subscriptions.list().filter(({ id }) => this.#addedSubscriptions.has(id))
    return this.#lifecycle.whilePaused("saved", options, () => saveAgents(this.#directory, added))
  }

  /** Restores a checkpoint whole, or fails and changes nothing. */
  async loadState(state: JsonObject, options: CallOptions = {}): Promise<void> {
    await this.#lifecycle.whilePaused("loaded", options, () =>
      loadAgents(this.#directory, state, options.signal, (subscriptions) => {
        const added = subscriptions.filter((subscription) => !this.#subscriptions.has(subscription))
        for (const id of this.#subscribeAll(added)) this.#addedSubscriptions.add(id)
      }),
    )
  }

  #send(
    message: Message,
    recipient: AgentId,
    options: SendOptions & Partial<ExpectReply<object>>,
    resolve: (reply: Reply) => void,
    reject: (error: unknown) => void,
  ): Delivery {
    this.#lifecycle.checkOpen()
    checkSend(message, options)
    const { expect } = options
    const timeoutMs = options.timeoutMs ?? this.#sendTimeoutMs
    return this.#dispatcher.send(
      message,
      recipient,
      timeoutMs === options.timeoutMs ? options : { ...options, timeoutMs },
      { resolve: expect ? expecting(expect, recipient, resolve, reject) : resolve, reject },
    )
  }

  async #agent(id: AgentId, { signal }: CallOptions): Promise<Agent> {
    checkSignal(signal)
    this.#lifecycle.checkNotClosed()
    signal?.throwIfAborted()
    const agent = this.#directory.agent(this.#directory.mailbox(id))
    return agent instanceof Promise ? this.#lifecycle.whileOpen(agent, signal) : agent
  }

  async #betweenMessages(
    id: AgentId,
    options: CallOptions,
    task: (agent: Agent) => Promise<void>,
  ): Promise<void> {
    checkSignal(options.signal)
    this.#lifecycle.checkNotStopping()
    // While all states are saved or loaded no message is delivered, and so no turn would come.
    if (!this.#lifecycle.isRunning || isSavingState()) return task(await this.#agent(id, options))
    options.signal?.throwIfAborted()
    await new Promise<void>((resolve, reject) => {
      const caller = { resolve: () => resolve(), reject }
      this.#dispatcher.runTask(id, RuntimeTask({}), task, options, caller)
    })
  }

  /** Adds all, or none. */
  #subscribeAll(
    subscriptions: readonly (Subscription | UnboundSubscription)[],
    agentType?: string,
  ): readonly string[] {
    const added: string[] = []
    try {
      for (const subscription of subscriptions) {
        const bound = bindSubscription(subscription, agentType)
        this.#subscriptions.add(bound)
        added.push(bound.id)
      }
      return added
    } catch (error) {
      for (const id of added) this.#subscriptions.remove(id)
      throw error
    }
  }
}
