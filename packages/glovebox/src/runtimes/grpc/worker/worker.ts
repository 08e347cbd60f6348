import type { AgentId } from "../../../core/agent-id.ts"
import type { AgentFactory, AgentRuntime, CallOptions, RegisterOptions } from "../../../core/agent-runtime.ts"
import type { Agent } from "../../../core/agent.ts"
import { GloveboxError } from "../../../core/glovebox-error.ts"
import type { JsonObject } from "../../../core/json.ts"
import { type Logger, safeLogger, warningLogger } from "../../../core/logger.ts"
import { type RuntimeParts, embedded } from "../../../core/single-threaded/embedding.ts"
import type { StopOptions } from "../../../core/single-threaded/lifecycle.ts"
import { SingleThreadedAgentRuntime } from "../../../core/single-threaded-agent-runtime.ts"
import type { Subscription } from "../../../core/subscription.ts"
import { abortable } from "../../../internal/abortable.ts"
import { AgentsAnywhere } from "./agents-anywhere.ts"
import { ControlChannel } from "./control-channel.ts"
import { HostConnection } from "./host-connection.ts"
import { HostSession } from "./host-session.ts"
import { Inbound } from "./inbound.ts"
import { OutgoingCalls } from "./outgoing-calls.ts"
import { OutgoingPublications } from "./outgoing-publications.ts"
import { Quiet } from "./quiet.ts"
import { Registrations } from "./registrations.ts"
import { Tenants } from "./tenants.ts"
import { waitedFor } from "./waited-for.ts"
import type { GrpcWorkerAgentRuntimeOptions, WorkerSettings } from "./worker-options.ts"
import { WorkerPort } from "./worker-port.ts"

export interface WorkerStatus {
  readonly state: "stopped" | "connecting" | "connected" | "draining"
  readonly agentTypes: readonly string[]
  /** How many agents live here. */
  readonly agents: number
  /** Messages of others that wait or are being handled here. */
  readonly outstanding: number
  /** Sends of this worker that wait for a reply. */
  readonly pending: number
  /** How often the connection was made anew. */
  readonly reconnects: number
}

/** The parts of a worker, and how it begins and ends. */
export class Worker {
  /** Where the agents of this worker live. */
  readonly local: SingleThreadedAgentRuntime
  readonly calls: OutgoingCalls
  readonly publications: OutgoingPublications
  readonly agents: AgentsAnywhere
  readonly #settings: WorkerSettings
  readonly #logger: Logger
  readonly #parts: RuntimeParts
  readonly #port: WorkerPort
  readonly #inbound: Inbound
  readonly #quiet: Quiet
  readonly #registrations: Registrations
  readonly #tenants: Tenants
  #control: ControlChannel | undefined
  #starting: Promise<void> | undefined
  #isDraining = false
  /** Aborted when the host was away for so long that it need not be told of anything. */
  #farewell: AbortController | undefined
  #reconnects = 0

  constructor(runtime: AgentRuntime, settings: WorkerSettings, options: GrpcWorkerAgentRuntimeOptions) {
    this.#settings = settings
    this.#logger = safeLogger(options.logger ?? warningLogger)
    const port = new WorkerPort(settings, this.#logger)
    this.#port = port
    let made: RuntimeParts | undefined
    const { access, ignoreUnhandledExceptions, interventions, logger, mailbox, tracerProvider } = options
    this.local = new SingleThreadedAgentRuntime(
      embedded(
        { access, ignoreUnhandledExceptions, interventions, logger, mailbox, tracerProvider },
        {
          runtime,
          onMade: (parts) => {
            made = parts
          },
          mayBegin: () => port.connection?.isLeaseOver !== true,
          onGone: (id) => this.#tenants.gone(id),
        },
      ),
    )
    if (!made) throw new GloveboxError("RUNTIME_STATE", "The runtime was not made.")
    const parts = made
    this.#parts = parts
    const { serialization } = this.local
    const { clientId, payloadSerializationFormat: contentType, sendTimeoutMs } = settings
    const outgoing = { clientId, parts, port, sendTimeoutMs, serialization }
    this.calls = new OutgoingCalls(outgoing)
    this.publications = new OutgoingPublications({ ...outgoing, contentType })
    this.#registrations = new Registrations(port, clientId)
    this.#tenants = new Tenants(parts, port, this.#registrations, this.#logger)
    this.#inbound = new Inbound({
      parts,
      port,
      serialization,
      findCall: (id) => this.calls.find(id),
      isWaitedFor: async (id) => (await this.#control?.isWaitedFor(id)) ?? false,
      accessOfEvent: (id) => this.publications.accessOf(id),
    })
    this.#quiet = new Quiet({
      port,
      whenIdleHere: () => parts.dispatcher.pending.whenIdle(),
      activity: () => port.activity,
    })
    this.agents = new AgentsAnywhere({
      local: this.local,
      calls: this.calls,
      parts,
      port,
      control: () => this.#control,
    })
  }

  get clientId(): string {
    return this.#settings.clientId
  }

  status(): WorkerStatus {
    const { connection } = this.#port
    const connected = connection?.link ? (this.#isDraining ? "draining" : "connected") : "connecting"
    return {
      state: connection ? connected : "stopped",
      agentTypes: this.#registrations.types,
      agents: this.#parts.directory.agents().length,
      outstanding: this.#inbound.outstanding,
      pending: this.calls.size,
      reconnects: this.#reconnects + Math.max(0, (connection?.connected ?? 0) - 1),
    }
  }

  async start(): Promise<void> {
    this.#parts.lifecycle.checkStartable()
    if (this.#port.connection) throw new GloveboxError("RUNTIME_STATE", "The runtime is starting already.")
    const connection: HostConnection = new HostConnection(
      this.#settings,
      this.#logger,
      new HostSession({
        port: this.#port,
        parts: this.#parts,
        calls: this.calls,
        publications: this.publications,
        inbound: this.#inbound,
        quiet: this.#quiet,
        registrations: this.#registrations,
        tenants: this.#tenants,
        logger: this.#logger,
        isDraining: () => this.#isDraining,
        onHostLost: () => this.#farewell?.abort(),
        openControl: () => this.#control?.open(),
        closeControl: () => this.#control?.close(),
      }),
    )
    this.#isDraining = false
    this.#port.connection = connection
    this.#control = new ControlChannel({
      clientId: this.clientId,
      timeoutMs: this.#settings.sendTimeoutMs,
      connection,
      actions: {
        saveState: async (id) => await this.local.saveAgentState(id),
        loadState: async (id, state) => await this.local.loadAgentState(id, state),
        metadata: async (id) => await this.local.agentMetadata(id),
        remove: async (id) => await this.local.removeAgent(id),
        waited: async (send) => await waitedFor(this.calls.find(send)),
      },
    })
    this.#starting = connection.open()
    try {
      await this.#starting
      this.local.start()
    } catch (error) {
      await this.#leave()
      throw error
    } finally {
      this.#starting = undefined
    }
  }

  async register(type: string, factory: AgentFactory, options: RegisterOptions): Promise<void> {
    const before = new Set(this.local.subscriptions)
    await this.local.register(type, factory, options)
    await this.#announce(
      before,
      () => this.#registrations.addType(type),
      () => {
        this.#registrations.removeType(type)
        this.#parts.directory.unregister(type)
        this.#port.notify({ unregistered: [type] })
      },
    )
  }

  async registerInstance(id: AgentId, agent: Agent, options: RegisterOptions): Promise<void> {
    const before = new Set(this.local.subscriptions)
    await this.local.registerInstance(id, agent, options)
    const { directory } = this.#parts
    await this.#announce(
      before,
      () => this.#registrations.addInstance(id),
      () => {
        this.#registrations.removeInstance(id)
        directory.forget(directory.mailbox(id))
        this.#port.notify({ removed: [id] })
      },
    )
  }

  async addSubscription(subscription: Subscription): Promise<void> {
    await this.local.addSubscription(subscription)
    if (!this.#isTold) return
    try {
      await this.#registrations.subscribe(subscription)
    } catch (error) {
      await this.local.removeSubscription(subscription.id)
      throw error
    }
  }

  async removeSubscription(id: string): Promise<void> {
    await this.local.removeSubscription(id)
    if (this.#isTold) await this.#registrations.unsubscribe(id)
  }

  async loadState(state: JsonObject, options: CallOptions): Promise<void> {
    const before = new Set(this.local.subscriptions)
    await this.local.loadState(state, options)
    this.#tenants.tellAlive()
    if (!this.#isTold) return
    for (const added of this.local.subscriptions) {
      if (!before.has(added)) await this.#registrations.subscribe(added)
    }
  }

  async whenIdle(options: CallOptions): Promise<void> {
    await this.local.whenIdle(options)
    if (await this.#whenIdleElsewhere(options)) await this.local.whenIdle(options)
  }

  async drain({ signal }: CallOptions): Promise<void> {
    signal?.throwIfAborted()
    const { link } = this.#port
    this.#isDraining = true
    if (link && !this.#port.isPlain) {
      const seq = link.send({ notice: { leave: "drain" } })
      this.#farewell = new AbortController()
      const waiting = AbortSignal.any([this.#farewell.signal, ...(signal ? [signal] : [])])
      // What the host sent before it knew is here when it says that it knows.
      await link.whenReceived(seq, waiting).catch((error: unknown) => {
        signal?.throwIfAborted()
        this.#logger.debug("The host was lost while the worker drains", { error })
      })
    }
    await abortable(this.#parts.dispatcher.pending.whenIdle(signal), signal)
    await this.#tenants.giveUpAll()
  }

  async stop(options: StopOptions): Promise<void> {
    try {
      await this.local.stop(options)
    } finally {
      if (!this.#parts.lifecycle.isRunning) await this.#leave()
    }
  }

  async stopWhenIdle(options: StopOptions): Promise<void> {
    try {
      await this.#parts.lifecycle.stopWhenIdle(options, async () => {
        await this.#whenIdleElsewhere(options)
      })
    } finally {
      if (!this.#parts.lifecycle.isRunning) await this.#leave()
    }
  }

  async stopWhen(condition: () => boolean | Promise<boolean>, options: StopOptions): Promise<void> {
    try {
      await this.local.stopWhen(condition, options)
    } finally {
      if (!this.#parts.lifecycle.isRunning) await this.#leave()
    }
  }

  async close(): Promise<void> {
    try {
      await this.stop({})
    } finally {
      await this.local.close()
    }
  }

  /** True when a host has been told of what is registered, so that it must hear of more. */
  get #isTold(): boolean {
    return this.#port.connection !== undefined
  }

  /** Tells the host of a registration and its subscriptions; what it refuses is undone here. */
  async #announce(
    before: ReadonlySet<Subscription>,
    tell: () => Promise<void>,
    undo: () => void,
  ): Promise<void> {
    const added = this.local.subscriptions.filter((subscription) => !before.has(subscription))
    const told: Subscription[] = []
    try {
      await this.#starting?.catch(() => {})
      await tell()
      if (!this.#isTold) return
      for (const subscription of added) {
        await this.#registrations.subscribe(subscription)
        told.push(subscription)
      }
    } catch (error) {
      for (const { id } of added) await this.local.removeSubscription(id)
      undo()
      for (const { id } of told) await this.#registrations.unsubscribe(id).catch(() => {})
      throw error
    }
  }

  /** False when there is nobody to ask. */
  async #whenIdleElsewhere({ signal }: CallOptions): Promise<boolean> {
    if (this.#port.isPlain || !this.#port.connection || !this.#parts.lifecycle.isRunning) return false
    await this.#quiet.ask(signal)
    return true
  }

  async #leave(): Promise<void> {
    const { connection } = this.#port
    if (!connection) return
    this.#reconnects += Math.max(0, connection.connected - 1)
    await connection.close()
    this.#control?.close()
    this.#control = undefined
    this.#quiet.end()
    if (this.#port.connection === connection) this.#port.connection = undefined
  }
}
