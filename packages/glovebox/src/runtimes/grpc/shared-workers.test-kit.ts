import type {
  Agent,
  AgentFactory,
  AgentId,
  AgentMetadata,
  AnyMessageType,
  CallOptions,
  ExpectReply,
  JsonObject,
  Message,
  PublishOptions,
  RegisterOptions,
  Reply,
  RuntimeEvent,
  SendOptions,
  StopOptions,
  Subscription,
  TopicId,
} from "../../core/index.ts"
import type { TestedRuntime } from "../../testing/runtime-subject.ts"
import type { GrpcWorkerAgentRuntime } from "./index.ts"

/** Workers that share all their types, used as if they were one runtime. */
export class SharedWorkers implements TestedRuntime {
  readonly #workers: readonly GrpcWorkerAgentRuntime[]
  readonly #first: GrpcWorkerAgentRuntime

  constructor(workers: readonly GrpcWorkerAgentRuntime[]) {
    const [first] = workers
    if (!first) throw new Error("There must be a worker.")
    this.#workers = workers
    this.#first = first
  }

  send<Fields extends object, Name extends string>(
    message: Message,
    recipient: AgentId,
    options: SendOptions & ExpectReply<Fields, Name>,
  ): Promise<Message<Fields, Name>>
  send(message: Message, recipient: AgentId, options?: SendOptions): Promise<Reply>
  send(message: Message, recipient: AgentId, options?: SendOptions): Promise<Reply> {
    return this.#first.send(message, recipient, options)
  }

  publish(message: Message, topic?: TopicId, options?: PublishOptions): Promise<void> {
    return this.#first.publish(message, topic, options)
  }

  async register(type: string, factory: AgentFactory, options?: RegisterOptions): Promise<void> {
    // What is wrong with a registration is wrong at the first.
    for (const worker of this.#workers) await worker.register(type, factory, options)
  }

  registerInstance(id: AgentId, agent: Agent, options?: RegisterOptions): Promise<void> {
    return this.#first.registerInstance(id, agent, options)
  }

  removeAgent(id: AgentId, options?: CallOptions): Promise<void> {
    return this.#first.removeAgent(id, options)
  }

  addMessageType(type: AnyMessageType): void {
    for (const worker of this.#workers) worker.addMessageType(type)
  }

  addSubscription(subscription: Subscription): Promise<void> {
    return this.#first.addSubscription(subscription)
  }

  removeSubscription(id: string): Promise<void> {
    return this.#first.removeSubscription(id)
  }

  agentMetadata(id: AgentId, options?: CallOptions): Promise<AgentMetadata> {
    return this.#first.agentMetadata(id, options)
  }

  saveAgentState(id: AgentId, options?: CallOptions): Promise<JsonObject> {
    return this.#first.saveAgentState(id, options)
  }

  loadAgentState(id: AgentId, state: JsonObject, options?: CallOptions): Promise<void> {
    return this.#first.loadAgentState(id, state, options)
  }

  async saveState(options?: CallOptions): Promise<JsonObject> {
    return await mergedState(this.#workers, options)
  }

  loadState(state: JsonObject, options?: CallOptions): Promise<void> {
    return this.#first.loadState(state, options)
  }

  async start(): Promise<void> {
    for (const worker of this.#workers) await worker.start()
  }

  whenIdle(options?: CallOptions): Promise<void> {
    return this.#first.whenIdle(options)
  }

  async stop(options?: StopOptions): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop(options)))
  }

  async stopWhenIdle(options?: StopOptions): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stopWhenIdle(options)))
  }

  async stopWhen(condition: () => boolean | Promise<boolean>, options?: StopOptions): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stopWhen(condition, options)))
  }

  async close(): Promise<void> {
    const ends = await Promise.allSettled(this.#workers.map((worker) => worker.close()))
    for (const end of ends) if (end.status === "rejected") throw end.reason
  }

  on<Type extends RuntimeEvent["type"]>(
    type: Type,
    listener: (event: Extract<RuntimeEvent, { type: Type }>) => void,
  ): Disposable {
    const listening = this.#workers.map((worker) => worker.on(type, listener))
    return {
      [Symbol.dispose]: () => {
        for (const one of listening) one[Symbol.dispose]()
      },
    }
  }
}

/** The state of all: each agent is in the state of the worker where it lives. */
async function mergedState(
  workers: readonly GrpcWorkerAgentRuntime[],
  options: CallOptions | undefined,
): Promise<JsonObject> {
  let merged: JsonObject = {}
  for (const worker of workers) {
    const state = await worker.saveState(options)
    const agents = { ...(merged["agents"] as JsonObject | undefined), ...(state["agents"] as JsonObject) }
    merged = { ...state, ...merged, agents }
  }
  return merged
}
