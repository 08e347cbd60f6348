import { type AgentId, checkAgentId } from "../../core/agent-id.ts"
import type { AgentMetadata } from "../../core/agent-metadata.ts"
import type {
  AgentFactory,
  AgentRuntime,
  CallOptions,
  ExpectReply,
  PublishOptions,
  RegisterOptions,
  SendOptions,
} from "../../core/agent-runtime.ts"
import type { Agent, Reply } from "../../core/agent.ts"
import { defaultTopicId } from "../../core/default-topic-id.ts"
import type { JsonObject } from "../../core/json.ts"
import type { AnyMessageType, Message } from "../../core/message.ts"
import type { RuntimeEvent } from "../../core/runtime-event.ts"
import type { SerializationRegistry } from "../../core/serialization.ts"
import { currentDelivery } from "../../core/single-threaded/dispatcher.ts"
import type { StopOptions } from "../../core/single-threaded/lifecycle.ts"
import { ObservedPromise } from "../../core/single-threaded/observed-promise.ts"
import type { Subscription } from "../../core/subscription.ts"
import type { TopicId } from "../../core/topic-id.ts"
import type { OutgoingCall } from "./worker/outgoing-call.ts"
import { type GrpcWorkerAgentRuntimeOptions, readWorkerOptions } from "./worker/worker-options.ts"
import { Worker, type WorkerStatus } from "./worker/worker.ts"

/** Runs agents in this process that others reach through a host, and reaches theirs. */
export class GrpcWorkerAgentRuntime implements AgentRuntime, AsyncDisposable {
  readonly #worker: Worker

  constructor(options: GrpcWorkerAgentRuntimeOptions) {
    this.#worker = new Worker(this, readWorkerOptions(options), options)
  }

  /** What the host knows this worker by. */
  get clientId(): string {
    return this.#worker.clientId
  }

  /** The message types this worker can write and read. */
  get serialization(): SerializationRegistry {
    return this.#worker.local.serialization
  }

  /** Those of this worker. */
  get subscriptions(): readonly Subscription[] {
    return this.#worker.local.subscriptions
  }

  status(): WorkerStatus {
    return this.#worker.status()
  }

  /** Listens to what happens in this worker; dispose the result to stop listening. */
  on<Type extends RuntimeEvent["type"]>(
    type: Type,
    listener: (event: Extract<RuntimeEvent, { type: Type }>) => void,
  ): Disposable {
    return this.#worker.local.on(type, listener)
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
    const { calls } = this.#worker
    if (!currentDelivery()) {
      return new Promise((resolve, reject) => {
        calls.send(message, recipient, options, resolve, reject)
      })
    }
    // Only a send that its handler waits for can be part of a circle.
    let call: OutgoingCall | undefined
    const sent = new ObservedPromise<Reply>((resolve, reject) => {
      call = calls.send(message, recipient, options, resolve, reject)
    })
    sent.onObserved = () => {
      const waiter = currentDelivery()
      if (waiter) call?.addWaiter(waiter)
    }
    return sent
  }

  /** Publishes to every subscribed agent of all workers; resolves when the host has the message. */
  async publish(
    message: Message,
    topic: TopicId = defaultTopicId(),
    options: PublishOptions = {},
  ): Promise<void> {
    await this.#worker.publications.publish(message, topic, options)
  }

  /** Several workers may register the same type: each of its agents lives on one of them. */
  async register(type: string, factory: AgentFactory, options: RegisterOptions = {}): Promise<void> {
    await this.#worker.register(type, factory, options)
  }

  async registerInstance(id: AgentId, agent: Agent, options: RegisterOptions = {}): Promise<void> {
    await this.#worker.registerInstance(id, agent, options)
  }

  addMessageType(type: AnyMessageType): void {
    this.#worker.local.addMessageType(type)
  }

  async addSubscription(subscription: Subscription): Promise<void> {
    await this.#worker.addSubscription(subscription)
  }

  async removeSubscription(id: string): Promise<void> {
    await this.#worker.removeSubscription(id)
  }

  /** Connects to the host, and begins to deliver; what was sent before has waited. */
  async start(): Promise<void> {
    await this.#worker.start()
  }

  /** Resolves once no message waits or is being handled, in any worker of the host. */
  async whenIdle(options: CallOptions = {}): Promise<void> {
    await this.#worker.whenIdle(options)
  }

  /** Takes no new work, finishes what it has, and gives its agents to other workers. Call `stop` or `close` then. */
  async drain(options: CallOptions = {}): Promise<void> {
    await this.#worker.drain(options)
  }

  /** Stops at once: ends every send, aborts running handlers, waits a little for them, and leaves the host. */
  async stop(options: StopOptions = {}): Promise<void> {
    await this.#worker.stop(options)
  }

  /** Stops when no message waits or is being handled, in any worker of the host. */
  async stopWhenIdle(options: StopOptions = {}): Promise<void> {
    await this.#worker.stopWhenIdle(options)
  }

  /** Stops when the condition holds; it is asked after each message here, and every 100 ms. */
  async stopWhen(condition: () => boolean | Promise<boolean>, options: StopOptions = {}): Promise<void> {
    await this.#worker.stopWhen(condition, options)
  }

  /** Stops, and closes every agent. A closed runtime stays closed. */
  async close(): Promise<void> {
    await this.#worker.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async removeAgent(id: AgentId, options: CallOptions = {}): Promise<void> {
    checkAgentId(id)
    await this.#worker.agents.remove(id, options)
  }

  async agentMetadata(id: AgentId, options: CallOptions = {}): Promise<AgentMetadata> {
    checkAgentId(id)
    return await this.#worker.agents.metadata(id, options)
  }

  /** The agent object itself; for agents of this process only. */
  async getUnderlyingAgent<T extends Agent>(
    id: AgentId,
    type: abstract new (...args: never) => T,
    options: CallOptions = {},
  ): Promise<T> {
    return await this.#worker.local.getUnderlyingAgent(id, type, options)
  }

  async saveAgentState(id: AgentId, options: CallOptions = {}): Promise<JsonObject> {
    checkAgentId(id)
    return await this.#worker.agents.saveState(id, options)
  }

  async loadAgentState(id: AgentId, state: JsonObject, options: CallOptions = {}): Promise<void> {
    checkAgentId(id)
    await this.#worker.agents.loadState(id, state, options)
  }

  /** A checkpoint of the agents of this worker; only while it is idle, so that nothing is left out. */
  async saveState(options: CallOptions = {}): Promise<JsonObject> {
    return await this.#worker.local.saveState(options)
  }

  /** Restores a checkpoint whole, or fails and changes nothing. */
  async loadState(state: JsonObject, options: CallOptions = {}): Promise<void> {
    await this.#worker.loadState(state, options)
  }
}
