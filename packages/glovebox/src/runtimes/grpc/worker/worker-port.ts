import { GloveboxError } from "../../../core/glovebox-error.ts"
import type { Logger } from "../../../core/logger.ts"
import type { Link } from "../link/link.ts"
import type { Notice, RpcResponse } from "../wire/wire-message.ts"
import type { HostConnection } from "./host-connection.ts"
import type { HostPort } from "./host-port.ts"
import type { WorkerSettings } from "./worker-options.ts"

/** The way to the host over whichever connection there is. */
export class WorkerPort implements HostPort {
  readonly #settings: WorkerSettings
  readonly #logger: Logger
  /** Undefined before the start and after the end. */
  connection: HostConnection | undefined
  #activity = 0

  constructor(settings: WorkerSettings, logger: Logger) {
    this.#settings = settings
    this.#logger = logger
  }

  get link(): Link | undefined {
    return this.connection?.link
  }

  get isPlain(): boolean {
    return this.connection?.isPlain ?? false
  }

  /** Grows with every message that is sent or comes. */
  get activity(): number {
    return this.#activity
  }

  active(): void {
    this.#activity += 1
  }

  checkUp(): void {
    if (this.connection?.isLeaseOver) throw this.unavailable()
  }

  checkRoom(held: number): void {
    if (held <= this.#settings.maxQueued) return
    throw new GloveboxError(
      "QUEUE_FULL",
      `${held - 1} messages wait for a connection to the host. Try later.`,
    )
  }

  unavailable(): GloveboxError {
    return new GloveboxError(
      "HOST_UNAVAILABLE",
      `There is no connection to the host at ${this.#settings.hostAddress}. The message was not sent.`,
    )
  }

  notify(notice: Notice): void {
    if (this.isPlain) return
    try {
      this.connection?.waitingLink?.send({ notice })
    } catch (error) {
      this.#logger.debug("The host could not be told something", { error })
    }
  }

  answer(response: RpcResponse): void {
    this.connection?.waitingLink?.send({ response })
  }
}
