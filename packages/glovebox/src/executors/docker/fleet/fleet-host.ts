import { GloveboxError } from "../../../core/index.ts"
import { abortable } from "../../../internal/abortable.ts"
import { errorMessage } from "../../../internal/error-message.ts"
import { watchAbort } from "../../../internal/watch-abort.ts"
import { findEngine } from "../engine-address.ts"
import { Engine } from "../engine.ts"
import { FleetError } from "./fleet-error.ts"
import type { FleetHostSettings } from "./fleet-options.ts"
import { type GroupKind, HostGroups } from "./host-groups.ts"
import type { HostState, ImageState } from "./placement.ts"
import { removeOwned } from "./remove-owned.ts"
import type { SandboxGroup } from "./sandbox-group.ts"
import type { TurnHost } from "./turn-queue.ts"

// One answer may come late; an engine that gives none so often is gone, and what ran there with it.
const FAILURES_UNTIL_LOST = 3
const TROUBLED_MS = 10_000
const IMAGE_AGAIN_MS = 60_000

export type FleetEvent =
  | { readonly type: "host-up"; readonly host: string }
  | { readonly type: "host-down"; readonly host: string; readonly because: string }
  | { readonly type: "host-lost"; readonly host: string; readonly because: string }

export interface FleetHostSetup {
  readonly settings: FleetHostSettings
  /** The images to look for. */
  readonly images: readonly string[]
  readonly healthCheckMs: number
  readonly healthTimeoutMs: number
  readonly now: () => number
  readonly emit: (event: FleetEvent) => void
  /** Called when there may be room for work, or none any more. */
  readonly onChange: () => void
}

/** One engine of a fleet: whether it answers, what it has, and what runs there. */
export class FleetHost implements TurnHost {
  readonly settings: FleetHostSettings
  state: HostState = "unknown"
  running = 0
  isDraining = false
  /** Why it is down. */
  lastError: string | undefined
  readonly #setup: FleetHostSetup
  readonly #present = new Set<string>()
  readonly #unavailable = new Map<string, number>()
  readonly #groups: HostGroups
  /** Owners of containers that could not be removed while it was away. */
  readonly #left = new Set<string>()
  readonly #idleListeners = new Set<() => void>()
  readonly #sessions = new Set<() => void>()
  #endsSessions = false
  // Aborts with the first answer, or when there will be none.
  readonly #answered = new AbortController()
  #engine: Engine | undefined
  #lost = new AbortController()
  #failures = 0
  #troubledUntil = -Infinity
  #checking: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  readonly #closed = new AbortController()

  constructor(setup: FleetHostSetup) {
    this.#setup = setup
    this.settings = setup.settings
    this.#groups = new HostGroups({ engine: this.name, onLeft: (owner) => void this.#left.add(owner) })
  }

  get name(): string {
    return this.settings.name
  }

  get capacity(): number {
    return this.settings.capacity
  }

  get sessions(): number {
    return this.#sessions.size
  }

  get images(): readonly string[] {
    return [...this.#present]
  }

  get groups(): ReadonlyMap<string, SandboxGroup> {
    return this.#groups.open
  }

  /** Aborts when the engine is gone, with all that was there. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  get isTroubled(): boolean {
    return this.#setup.now() < this.#troubledUntil
  }

  get #isClosed(): boolean {
    return this.#closed.signal.aborted
  }

  imageState(image: string): ImageState {
    if (this.#present.has(image)) return "present"
    return (this.#unavailable.get(image) ?? -Infinity) > this.#setup.now() ? "unavailable" : "absent"
  }

  begin(): void {
    this.running += 1
  }

  end(): void {
    this.running -= 1
    this.#tellIdle()
  }

  /** Counts a session; `end` is called to end it with the next drain that asks for it. The result lets it go. */
  keepSession(end: () => void): () => void {
    this.#sessions.add(end)
    // Begun by a call that was placed before the drain.
    if (this.#endsSessions) end()
    return () => {
      this.#sessions.delete(end)
      this.#tellIdle()
    }
  }

  /** Those that there are, and those that calls which run there begin before it is empty. */
  endSessions(): void {
    this.#endsSessions = true
    for (const end of this.#sessions) end()
  }

  /** Waits until it is known for the first time whether the engine answers. */
  async firstAnswer(signal: AbortSignal | undefined): Promise<void> {
    const answered = new Promise<void>((resolve) => {
      watchAbort(this.#answered.signal, () => resolve())
    })
    await abortable(answered, signal)
  }

  /** Resolves when no call, no session and no container is left there, or when it is not drained any more. */
  async whenEmpty(signal: AbortSignal | undefined): Promise<void> {
    let check: (() => void) | undefined
    const empty = new Promise<void>((resolve) => {
      check = () => {
        if (!this.isDraining || (this.running === 0 && this.#sessions.size === 0)) resolve()
      }
      this.#idleListeners.add(check)
      check()
    })
    try {
      await abortable(empty, signal)
    } finally {
      if (check) this.#idleListeners.delete(check)
    }
    if (this.isDraining) await abortable(this.#groups.close(), signal)
  }

  undrain(): void {
    this.isDraining = false
    this.#endsSessions = false
    this.#tellIdle()
    this.#setup.onChange()
  }

  /** The containers of one kind, made ready when they are first asked for. */
  async group(key: string, kind: GroupKind): Promise<SandboxGroup> {
    const { dockerHost, dockerContext, tls, dangerouslyAllowPlaintext } = this.settings
    const docker = { ...kind.docker, dockerHost, dockerContext, tls, dangerouslyAllowPlaintext }
    return this.#groups.get(key, { ...kind, docker }, this.lost)
  }

  /** Lets go of containers of one kind. */
  async endGroup(key: string): Promise<void> {
    await this.#groups.end(key)
  }

  /** Learns from work that failed there before it began. */
  failed(error: unknown, image: string): void {
    if (this.#isClosed) return
    if (GloveboxError.is(error, "IMAGE_UNAVAILABLE")) {
      this.#present.delete(image)
      this.#unavailable.set(image, this.#setup.now() + IMAGE_AGAIN_MS)
      return
    }
    this.#troubledUntil = this.#setup.now() + TROUBLED_MS
    if (GloveboxError.is(error, "ENGINE_UNAVAILABLE") && this.state === "up") this.#down(error)
    this.checkSoon()
  }

  /** Learns that work began there. */
  succeeded(image: string): void {
    this.#troubledUntil = -Infinity
    this.#present.add(image)
  }

  /** Asks the engine at once, and then again and again. */
  checkSoon(): void {
    clearTimeout(this.#timer)
    void this.check()
  }

  async check(): Promise<void> {
    if (this.#isClosed) return
    await (this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined
      if (this.#isClosed) return
      this.#timer = setTimeout(() => void this.check(), this.#setup.healthCheckMs)
      this.#timer.unref()
    }))
  }

  async close(): Promise<void> {
    const stopped = new GloveboxError("EXECUTOR_STOPPED", "The fleet was stopped.")
    this.#closed.abort(stopped)
    this.#answered.abort()
    clearTimeout(this.#timer)
    this.#lost.abort(stopped)
    await this.#groups.close()
    await this.#checking
    this.#engine?.close()
  }

  async #check(): Promise<void> {
    const limit = AbortSignal.timeout(this.#setup.healthTimeoutMs)
    try {
      // Whoever stops the fleet does not wait for an answer.
      await abortable(abortable(this.#ask(limit), limit), this.#closed.signal)
    } catch (error) {
      // Requests that got no answer end with their connections.
      this.#engine?.close()
      this.#engine = undefined
      if (!this.#isClosed) this.#down(error)
      return
    } finally {
      this.#answered.abort()
    }
    if (!this.#isClosed) this.#up()
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const engine = (this.#engine ??= new Engine(await findEngine(this.settings)))
    await engine.info(signal)
    for (const image of this.#setup.images) {
      if (await engine.image(image)) {
        this.#present.add(image)
        this.#unavailable.delete(image)
      } else this.#present.delete(image)
    }
    for (const owner of this.#left) {
      await removeOwned(engine, owner)
      this.#left.delete(owner)
    }
  }

  #up(): void {
    const wasUp = this.state === "up"
    // What it knew before it was away may not be so any more; calls that go on keep what they have.
    if (this.state === "down") this.#groups.retire()
    this.#failures = 0
    this.lastError = undefined
    this.state = "up"
    if (!wasUp) this.#setup.emit({ type: "host-up", host: this.name })
    this.#setup.onChange()
  }

  #down(error: unknown): void {
    const because = errorMessage(error)
    const wasDown = this.state === "down"
    this.state = "down"
    this.lastError = because
    this.#failures += 1
    if (!wasDown) this.#setup.emit({ type: "host-down", host: this.name, because })
    if (this.#failures === FAILURES_UNTIL_LOST) this.#lose(because)
    this.#setup.onChange()
  }

  #lose(because: string): void {
    this.#setup.emit({ type: "host-lost", host: this.name, because })
    const cause = new GloveboxError("SANDBOX_LOST", `The engine does not answer any more: ${because}`)
    this.#lost.abort(new FleetError(this.name, cause))
    this.#lost = new AbortController()
    void this.#groups.close()
  }

  #tellIdle(): void {
    for (const listener of this.#idleListeners) listener()
  }
}
