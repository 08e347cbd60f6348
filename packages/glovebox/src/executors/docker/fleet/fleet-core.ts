import { GloveboxError } from "../../../core/index.ts"
import { TypedEmitter } from "../../../internal/typed-emitter.ts"
import { type FleetEvent, FleetHost } from "./fleet-host.ts"
import type { FleetSettings } from "./fleet-options.ts"
import type { FleetTenant } from "./fleet-tenant.ts"
import { type PlaceRequest, place } from "./placement.ts"
import { TenantLoad } from "./tenant-load.ts"
import { type Refusal, type Turn, TurnQueue } from "./turn-queue.ts"

export interface CoreRequest {
  readonly load: TenantLoad
  readonly where: PlaceRequest
  /** What went wrong on the engine before. */
  readonly failure: GloveboxError | undefined
  readonly signal: AbortSignal
  /** Of the engine that it is bound to. */
  readonly lost?: AbortSignal | undefined
}

/** What the executors of a fleet have in common: its engines, its tenants, and whose turn it is. */
export class FleetCore {
  readonly hosts: readonly FleetHost[]
  readonly loads: ReadonlyMap<string, TenantLoad>
  readonly queue: TurnQueue<FleetHost>
  readonly events = new TypedEmitter<FleetEvent>(() => {})
  /** Of the executors that are started. */
  readonly runners = new Set<{ close(): Promise<void> }>()
  readonly #settings: FleetSettings
  #isStarted = false
  #stopping: Promise<void> | undefined

  constructor(settings: FleetSettings) {
    this.#settings = settings
    const { hosts, tenants, healthCheckMs, healthTimeoutMs, now } = settings
    const images = [...new Set([...tenants.values()].map((tenant) => imageOf(tenant)))]
    this.hosts = hosts.map(
      (host) =>
        new FleetHost({
          settings: host,
          images,
          healthCheckMs,
          healthTimeoutMs,
          now,
          emit: (event) => this.events.emit(event),
          onChange: () => this.queue.dispatch(),
        }),
    )
    this.loads = new Map([...tenants].map(([name, tenant]) => [name, new TenantLoad(tenant, now)]))
    this.queue = new TurnQueue(this.hosts)
  }

  now(): number {
    return this.#settings.now()
  }

  /** Begins to ask the engines; it does not wait for their answers. */
  start(): void {
    if (this.#stopping) throw stopped()
    if (this.#isStarted) return
    this.#isStarted = true
    for (const host of this.hosts) host.checkSoon()
  }

  /** Where a tenant's work may go. */
  where(tenant: FleetTenant, tried: ReadonlySet<string>, only?: string): PlaceRequest {
    return {
      hosts: tenant.hosts,
      image: imageOf(tenant),
      canPull: this.#settings.pull !== "never",
      tried,
      only,
    }
  }

  /** Waits until it is known whether there is an engine for the tenant's work. */
  async ready(load: TenantLoad, signal: AbortSignal): Promise<void> {
    const where = this.where(load.tenant, new Set())
    const mine = this.hosts.filter(({ name }) => load.tenant.hosts.has(name))
    for (;;) {
      if (this.#stopping) throw stopped()
      const placement = place(this.hosts, where)
      if (placement.kind === "none") throw this.#refuse(load, placement.because)
      const unknown = mine.filter(({ state }) => state === "unknown")
      if (placement.kind === "placed" || unknown.length === 0) return
      await Promise.race(unknown.map(async (host) => host.firstAnswer(signal)))
    }
  }

  async take({ load, where, failure, signal, lost }: CoreRequest): Promise<Turn<FleetHost>> {
    const request = {
      tenant: load,
      where,
      isAgain: failure !== undefined,
      refuse: (because: Refusal) => failure ?? this.#refuse(load, because),
    }
    return this.queue.take(request, lost ? AbortSignal.any([signal, lost]) : signal)
  }

  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop())
  }

  async #stop(): Promise<void> {
    this.queue.close(stopped())
    // What runs fails with its engine; then each executor lets go of what it holds.
    const closing = Promise.all(this.hosts.map(async (host) => host.close()))
    await Promise.all([...this.runners].map(async (runner) => runner.close()))
    await closing
  }

  #refuse(load: TenantLoad, because: Refusal): Error {
    if (because === "full") return load.full()
    if (because === "draining") return load.drained()
    const mine = this.hosts.filter(({ name }) => load.tenant.hosts.has(name))
    if (because === "image") {
      return new GloveboxError(
        "IMAGE_UNAVAILABLE",
        `No engine of the tenant ${load.name} has the image ${imageOf(load.tenant)}, or can get it: ${mine.map(({ name }) => name).join(", ")}.`,
      )
    }
    const why = mine.map(({ name, lastError }) => `${name}: ${lastError ?? "not asked yet"}`).join("; ")
    return new GloveboxError("ENGINE_UNAVAILABLE", `No engine of the tenant ${load.name} answers. ${why}`)
  }
}

function imageOf({ docker }: FleetTenant): string {
  return docker.policy.fields.image
}

function stopped(): GloveboxError {
  return new GloveboxError("EXECUTOR_STOPPED", "The fleet was stopped.")
}
