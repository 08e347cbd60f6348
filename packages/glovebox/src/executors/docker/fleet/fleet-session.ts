import { GloveboxError } from "../../../core/index.ts"
import { watchAbort } from "../../../internal/watch-abort.ts"
import type { CodeResult } from "../../code-result.ts"
import type { ExecuteCall } from "../../sandbox/running-executor.ts"
import type { SandboxRunner } from "../../sandbox/sandbox-runner.ts"
import { FleetError } from "./fleet-error.ts"
import type { FleetHost } from "./fleet-host.ts"
import type { GroupLauncher } from "./sandbox-group.ts"

export interface FleetSessionOptions {
  readonly host: FleetHost
  readonly launcher: GroupLauncher
  readonly runner: SandboxRunner
  /** Gives back the tenant's session. */
  readonly letGo: () => void
}

const SANDBOX = "The session's sandbox ended, and its files with it."
const DRAINED = "The engine was drained, and the session ended with its files."
const LOST = "The engine was lost, and the session with its files."

/** A session: one container on one engine, where its calls go while it lives. */
export class FleetSession {
  readonly host: FleetHost
  readonly launcher: GroupLauncher
  readonly #options: FleetSessionOptions
  readonly #leaveHost: () => void
  readonly #unwatch: () => void
  readonly #ended = new AbortController()
  // It is made for a call, which follows at once.
  #isBusy = true
  #isToEnd = false
  #isTold = false
  #loss: GloveboxError | undefined
  #closing: Promise<void> | undefined

  constructor(options: FleetSessionOptions) {
    this.#options = options
    this.host = options.host
    this.launcher = options.launcher
    this.#leaveHost = this.host.keepSession(() => {
      this.#isToEnd = true
      if (!this.#isBusy) this.#end(DRAINED)
    })
    this.#unwatch = watchAbort(this.host.lost, () => this.#end(LOST))
  }

  /** Aborts when it is over, with the error for the call that comes next. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  get isAlive(): boolean {
    return !this.#ended.signal.aborted
  }

  /** What the next call has to be told, unless the one before could tell. */
  get loss(): GloveboxError | undefined {
    return this.#isTold ? undefined : this.#loss
  }

  async execute(call: ExecuteCall): Promise<CodeResult> {
    this.#isBusy = true
    try {
      return await this.#options.runner.execute(call)
    } finally {
      // The call's result or error tells of it, such as after a timeout.
      this.#isTold = !this.launcher.isAlive
      await this.launcher.settle()
      this.#isBusy = false
      if (!this.launcher.isAlive) this.#end(SANDBOX)
      else if (this.#isToEnd) this.#end(DRAINED)
    }
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    this.#unwatch()
    this.#leaveHost()
    this.#options.letGo()
    await this.#options.runner.close()
  }

  #end(message: string): void {
    const cause = new GloveboxError("SANDBOX_LOST", `${message} The next call begins a new one.`)
    this.#loss ??= new FleetError(this.host.name, cause)
    this.#ended.abort(this.#loss)
    void this.close()
  }
}
