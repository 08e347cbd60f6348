import { join } from "node:path"
import { GloveboxError } from "../../../core/index.ts"
import { nearest } from "../../../internal/nearest.ts"
import { FleetCore } from "./fleet-core.ts"
import { FleetExecutor } from "./fleet-executor.ts"
import type { FleetEvent, FleetHost } from "./fleet-host.ts"
import {
  type DockerFleetOptions,
  type FleetExecutorOptions,
  type FleetSettings,
  checkExecutorOptions,
  readExecutorOptions,
  readFleetOptions,
} from "./fleet-options.ts"
import { type FleetStatus, fleetStatus } from "./fleet-status.ts"
import { distinctName } from "./tenant-name.ts"

export interface DrainOptions {
  /** Ends the waiting; the engine stays drained. */
  readonly signal?: AbortSignal | undefined
  /** Ends sessions too, each as soon as no call of it runs; else they are waited for. @default false */
  readonly endSessions?: boolean | undefined
}

/**
 * Several Docker engines behind one factory of executors, and tenants that share nothing but the engines.
 *
 * @example
 * await using fleet = new DockerFleet({
 *   hosts: [{ name: "a", dockerHost: "ssh://runner@10.0.0.7", capacity: 8 }],
 *   tenants: { acme: { quota: { concurrentRuns: 4 } } },
 * })
 * await using executor = fleet.executor({ tenant: "acme" })
 */
export class DockerFleet implements AsyncDisposable {
  readonly #settings: FleetSettings
  readonly #core: FleetCore

  constructor(options: DockerFleetOptions) {
    this.#settings = readFleetOptions(options)
    this.#core = new FleetCore(this.#settings)
  }

  /** Begins to ask the engines whether they answer; the first executor that starts does it too. */
  async start(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    this.#core.start()
    await Promise.all(this.#core.hosts.map(async (host) => host.firstAnswer(options.signal)))
  }

  /** Ends all runs, sessions and containers; calls that wait or run reject. It is not started again. */
  async stop(): Promise<void> {
    await this.#core.stop()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  /** An executor of a tenant: as a Docker executor, but with the fleet's engines. */
  executor(options: FleetExecutorOptions): FleetExecutor {
    checkExecutorOptions(options)
    const load = this.#core.loads.get(options.tenant)
    if (!load) throw unknown("tenant", options.tenant, [...this.#core.loads.keys()])
    const docker = readExecutorOptions(load.tenant, options, this.#folderOf(options))
    return new FleetExecutor(this.#core, load, docker)
  }

  /** Gives an engine no new work; resolves when nothing is left there, or when it is undrained. */
  async drain(name: string, options: DrainOptions = {}): Promise<void> {
    const host = this.#host(name)
    host.isDraining = true
    this.#core.queue.dispatch()
    if (options.endSessions) host.endSessions()
    await host.whenEmpty(options.signal)
  }

  undrain(name: string): void {
    this.#host(name).undrain()
  }

  status(): FleetStatus {
    return fleetStatus(this.#core)
  }

  /** Listens to engines that come and go. */
  on<Type extends FleetEvent["type"]>(
    type: Type,
    listener: (event: Extract<FleetEvent, { type: Type }>) => void,
  ): Disposable {
    return this.#core.events.on(type, listener)
  }

  #host(name: string): FleetHost {
    const host = this.#core.hosts.find((other) => other.name === name)
    if (host) return host
    throw unknown(
      "host",
      name,
      this.#core.hosts.map((other) => other.name),
    )
  }

  #folderOf({ tenant, workspace }: FleetExecutorOptions): string | undefined {
    if (workspace === undefined) return undefined
    const { workRoot } = this.#settings
    if (workRoot === undefined) {
      throw new GloveboxError(
        "OPTION_INVALID",
        "A workspace with a name needs the fleet's workRoot, the folder in which each tenant has its own.",
      )
    }
    return join(workRoot, distinctName(tenant), distinctName(workspace))
  }
}

function unknown(what: string, name: unknown, known: readonly string[]): GloveboxError {
  const meant = typeof name === "string" ? nearest(name, known) : undefined
  return new GloveboxError(
    "OPTION_INVALID",
    `The fleet has no ${what} ${JSON.stringify(name)}${meant === undefined ? "." : `; did you mean ${meant}?`}`,
  )
}
