import { GloveboxError } from "../../../core/index.ts"
import { abortable } from "../../../internal/abortable.ts"
import { LinkedAbort } from "../../../internal/linked-abort.ts"
import { watchAbort } from "../../../internal/watch-abort.ts"
import type { CodeResult } from "../../code-result.ts"
import type { ExecutionEvent } from "../../execution-event.ts"
import type { ExecuteCall, RunningExecutor } from "../../sandbox/running-executor.ts"
import { SandboxRunner, type SandboxRunnerOptions } from "../../sandbox/sandbox-runner.ts"
import { FleetError } from "./fleet-error.ts"
import type { FleetHost } from "./fleet-host.ts"
import type { CoreRequest, FleetCore } from "./fleet-core.ts"
import { FleetSession } from "./fleet-session.ts"
import type { GroupKind } from "./host-groups.ts"
import type { GroupLauncher } from "./sandbox-group.ts"
import type { CountedRun } from "./run-window.ts"
import type { TenantLoad } from "./tenant-load.ts"
import { TryLaterError } from "./try-later-error.ts"
import type { Turn } from "./turn-queue.ts"

// What may be otherwise on another engine.
const NOT_ITS_FAULT = new Set<string>([
  "ENGINE_FAILED",
  "ENGINE_UNAVAILABLE",
  "IMAGE_UNAVAILABLE",
  "SANDBOX_BROKEN",
  "SANDBOX_LOST",
  "SANDBOX_UNENFORCEABLE",
  // The engine's containers were let go while this one was being made.
  "EXECUTOR_STOPPED",
])

export interface FleetRunnerOptions {
  readonly core: FleetCore
  readonly load: TenantLoad
  /** Which containers it uses: the tenant's, or its own. */
  readonly key: string
  readonly isOwn: boolean
  readonly kind: GroupKind
  readonly runner: Omit<SandboxRunnerOptions, "launcher">
}

/** What became of a call so far. */
interface Progress {
  readonly counted: CountedRun
  /** Whether code may have run. */
  hasBegun: boolean
  /** Whether its listener knows of the start. */
  isTold: boolean
}

/** Runs the calls of one executor on the engines of a fleet. */
export class FleetRunner implements RunningExecutor {
  readonly #options: FleetRunnerOptions
  readonly #ending = new Set<Promise<void>>()
  #session: FleetSession | undefined

  constructor(options: FleetRunnerOptions) {
    this.#options = options
    options.core.runners.add(this)
  }

  async execute(call: ExecuteCall): Promise<CodeResult> {
    const { load } = this.#options
    const counted = load.admit()
    try {
      return await this.#execute(call, { counted, hasBegun: false, isTold: false })
    } finally {
      counted.undo()
    }
  }

  async close(): Promise<void> {
    const { core, key, isOwn } = this.#options
    core.runners.delete(this)
    await this.#session?.close()
    await Promise.all(this.#ending)
    if (isOwn) await Promise.all(core.hosts.map(async (host) => host.endGroup(key)))
  }

  async #execute(call: ExecuteCall, progress: Progress): Promise<CodeResult> {
    const { core, load, kind } = this.#options
    const session = this.#takeSession()
    const tried = new Set<string>()
    let failure: GloveboxError | undefined
    for (;;) {
      const where = core.where(load.tenant, tried, session?.host.name)
      const turn = await this.#turn({ load, where, failure, signal: call.signal }, session)
      const { host } = turn
      const begunAt = core.now()
      try {
        return await this.#whileThere(host, call, progress)
      } catch (error) {
        if (call.signal.aborted || !GloveboxError.is(error) || error instanceof TryLaterError) throw error
        failure = describe(host, error, progress.hasBegun)
        if (progress.hasBegun || session || !NOT_ITS_FAULT.has(error.code)) throw failure
        tried.add(host.name)
        host.failed(error, kind.docker.policy.fields.image)
      } finally {
        turn.end()
        if (progress.hasBegun) load.tookMs(core.now() - begunAt)
      }
    }
  }

  async #whileThere(host: FleetHost, call: ExecuteCall, progress: Progress): Promise<CodeResult> {
    const linked = new LinkedAbort(call.signal)
    const unwatch = watchAbort(host.lost, (reason) => linked.abort(reason))
    try {
      return await this.#executeOn(host, { ...call, signal: linked.signal }, progress)
    } finally {
      unwatch()
      linked.unlink()
    }
  }

  async #executeOn(host: FleetHost, given: ExecuteCall, progress: Progress): Promise<CodeResult> {
    const { signal } = given
    const image = this.#options.kind.docker.policy.fields.image
    const onBegin = (): void => {
      progress.hasBegun = true
      progress.counted.begin()
      host.succeeded(image)
    }
    if (this.#options.runner.isolation === "session") {
      const session = this.#session?.isAlive ? this.#session : await this.#openSession(host, signal)
      const onEvent = watch(given.onEvent, session.launcher, progress, onBegin)
      return session.execute({ ...given, onEvent })
    }
    const { launcher, runner } = await this.#open(host, signal)
    const onEvent = watch(given.onEvent, launcher, progress, onBegin)
    try {
      return await runner.execute({ ...given, onEvent })
    } finally {
      this.#end(runner)
    }
  }

  // The files of a session that is gone are gone: the caller has to hear of it.
  #takeSession(): FleetSession | undefined {
    const session = this.#session
    if (!session || session.isAlive) return session
    this.#session = undefined
    if (session.loss) throw session.loss
    return undefined
  }

  async #turn(request: CoreRequest, session: FleetSession | undefined): Promise<Turn<FleetHost>> {
    try {
      return await this.#options.core.take({ ...request, lost: session?.ended })
    } catch (error) {
      if (session && !session.isAlive && this.#session === session) this.#session = undefined
      throw error
    }
  }

  async #openSession(host: FleetHost, signal: AbortSignal): Promise<FleetSession> {
    const letGo = this.#options.load.beginSession()
    try {
      const opened = await this.#open(host, signal)
      if (signal.aborted) await opened.runner.close()
      // Whoever closes this looks for a session before: there must be none after.
      signal.throwIfAborted()
      return (this.#session = new FleetSession({ host, ...opened, letGo }))
    } catch (error) {
      letGo()
      throw error
    }
  }

  async #open(
    host: FleetHost,
    signal: AbortSignal,
  ): Promise<{ launcher: GroupLauncher; runner: SandboxRunner }> {
    const launcher = await this.#lend(host, signal)
    // Its own pool is none: the group's is behind the launcher.
    const pool = { ...this.#options.runner.pool, size: 0 }
    return {
      launcher,
      runner: await SandboxRunner.start({ ...this.#options.runner, launcher, pool }, signal),
    }
  }

  async #lend(host: FleetHost, signal: AbortSignal): Promise<GroupLauncher> {
    const { key, kind, load } = this.#options
    let group = await abortable(host.group(key, kind), signal)
    // It came to be just when the engine went away and came back, or was drained and taken back.
    if (group.isRetired) group = await abortable(host.group(key, kind), signal)
    return group.lend({ isMetered: load.isMetered, charge: (seconds) => load.charge(seconds) })
  }

  // The result does not wait for the container's end.
  #end(runner: SandboxRunner): void {
    const ending = runner.close().catch(() => {})
    this.#ending.add(ending)
    void ending.finally(() => this.#ending.delete(ending))
  }
}

// Notes when code begins; tells of the start once, however many engines it takes.
function watch(
  onEvent: (event: ExecutionEvent) => void,
  launcher: GroupLauncher,
  progress: Progress,
  onBegin: () => void,
): (event: ExecutionEvent) => void {
  return (event) => {
    if (event.type === "started") {
      if (progress.isTold) return
      progress.isTold = true
    }
    if (event.type === "block-started" && !launcher.isUsed) launcher.isUsed = true
    if (event.type === "block-started" && !progress.hasBegun) onBegin()
    onEvent(event)
  }
}

function describe(host: FleetHost, error: GloveboxError, hasBegun: boolean): GloveboxError {
  const isLost = hasBegun && NOT_ITS_FAULT.has(error.code)
  const note = isLost ? "The code had begun, so it is not run again on another engine." : ""
  if (error instanceof FleetError) return note === "" ? error : new FleetError(host.name, unwrap(error), note)
  return new FleetError(host.name, error, note)
}

function unwrap(error: FleetError): GloveboxError {
  return GloveboxError.is(error.cause) ? error.cause : error
}
