import { type AgentId, type AgentRuntime, GloveboxError, type Logger } from "../../core/index.ts"
import { safeLogger, warningLogger } from "../../core/logger.ts"
import { abortable } from "../../internal/abortable.ts"
import { Slots } from "../../internal/slots.ts"
import type { CodeExecutor } from "../code-executor.ts"
import { ByteBudget } from "./byte-budget.ts"
import { type ServeOptions, checkServedExecutor } from "./serve-options.ts"

/** What the service needs to know of one key. */
export interface Tenant {
  readonly id: AgentId
  /** Stopped by its client, so that its place may go to another. */
  readonly isResting: boolean
  readonly runs: number
}

/** How much a service has to do. */
export interface ExecutorServiceStatus {
  /** Keys that have an executor. */
  readonly keys: number
  /** Runs, those that wait included. */
  readonly runs: number
}

/** What the executors of all keys share: the bounds. */
export class ExecutorService {
  readonly options: ServeOptions
  readonly logger: Logger
  readonly slots: Slots
  readonly budget: ByteBudget
  readonly #runtime: AgentRuntime
  // In the order of their last message.
  readonly #tenants = new Map<string, Tenant>()
  #isDraining = false
  #isClosed = false
  #whenQuiet: (() => void)[] = []

  constructor(runtime: AgentRuntime, options: ServeOptions) {
    this.options = options
    this.logger = safeLogger(options.logger ?? warningLogger)
    this.slots = new Slots(options.maxRuns)
    this.budget = new ByteBudget(options.maxPendingBytes)
    this.#runtime = runtime
  }

  get status(): ExecutorServiceStatus {
    return { keys: this.#tenants.size, runs: this.#runs }
  }

  get #runs(): number {
    return [...this.#tenants.values()].reduce((sum, { runs }) => sum + runs, 0)
  }

  /** Lets a key in, or refuses it: TRY_LATER. */
  admit(tenant: Tenant): void {
    const { key } = tenant.id
    if (this.#isClosed) {
      throw new GloveboxError("EXECUTOR_STOPPED", "This machine runs no more code for others.")
    }
    if (!this.#tenants.delete(key) && this.#tenants.size >= this.options.maxKeys) this.#makeRoom()
    this.#tenants.set(key, tenant)
  }

  /** Refuses what would begin something, while nothing new is taken. */
  checkNew(): void {
    if (!this.#isDraining) return
    throw new GloveboxError(
      "TRY_LATER",
      "This machine is about to stop, and begins nothing new. Try again later.",
    )
  }

  /** Takes nothing new, and waits for the runs that there are. */
  async drain(signal?: AbortSignal): Promise<void> {
    this.#isDraining = true
    const quiet = new Promise<void>((resolve) => {
      this.#whenQuiet.push(resolve)
    })
    this.runEnded()
    await abortable(quiet, signal)
  }

  runEnded(): void {
    if (this.#runs > 0) return
    for (const resolve of this.#whenQuiet.splice(0)) resolve()
  }

  forget(tenant: Tenant): void {
    if (this.#tenants.get(tenant.id.key) === tenant) this.#tenants.delete(tenant.id.key)
  }

  /** Takes the agent of a key out of the runtime, which closes it. */
  async remove(id: AgentId): Promise<void> {
    try {
      await this.#runtime.removeAgent(id)
    } catch (error) {
      // A runtime that has stopped closes its agents itself.
      if (!GloveboxError.is(error, "RUNTIME_STOPPED")) {
        this.logger.error("The agent of a client could not be removed", { error })
      }
    }
  }

  async make(key: string): Promise<CodeExecutor> {
    const executor = await this.options.executor(key)
    checkServedExecutor(executor, this.options.dangerouslyServeHost)
    return executor
  }

  /** Ends all that runs for clients, and takes no more. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#tenants.values()].map(({ id }) => this.remove(id)))
    this.runEnded()
  }

  #makeRoom(): void {
    for (const tenant of this.#tenants.values()) {
      if (!tenant.isResting) continue
      this.forget(tenant)
      void this.remove(tenant.id)
      return
    }
    throw new GloveboxError(
      "TRY_LATER",
      `This machine runs code for ${this.options.maxKeys} clients, which is the most. Try again later.`,
    )
  }
}
