import { type AgentId, formatAgentId } from "../../../core/agent-id.ts"
import { GloveboxError } from "../../../core/glovebox-error.ts"
import type { Logger } from "../../../core/logger.ts"
import type { RuntimeParts } from "../../../core/single-threaded/embedding.ts"
import type { Mailbox } from "../../../core/single-threaded/mailbox.ts"
import type { WireAgentId } from "../wire/wire-message.ts"
import type { HostPort } from "./host-port.ts"
import type { Registrations } from "./registrations.ts"

const IDS_PER_NOTICE = 1000

/** The agents that live here, as the host sees them: an id lives at one worker at a time. */
export class Tenants {
  readonly #parts: RuntimeParts
  readonly #port: HostPort
  readonly #registrations: Registrations
  readonly #logger: Logger
  #gone: AgentId[] = []

  constructor(parts: RuntimeParts, port: HostPort, registrations: Registrations, logger: Logger) {
    this.#parts = parts
    this.#port = port
    this.#registrations = registrations
    this.#logger = logger
  }

  /** One was taken out, or could not be built: the host may put the next one elsewhere. */
  gone(id: AgentId): void {
    this.#registrations.removeInstance(id)
    this.#gone.push(id)
    if (this.#gone.length === 1) setImmediate(() => this.#tellGone())
  }

  /** Tells a host that does not know it who lives here. */
  tellAlive(): void {
    const ids = this.#parts.directory.mailboxes().map(({ id }) => id)
    for (const alive of chunks(ids)) this.#port.notify({ alive })
  }

  /** The host has these elsewhere. */
  evict(ids: readonly WireAgentId[]): void {
    for (const { key, type } of ids) {
      const mailbox = this.#parts.directory.find({ type, key })
      if (!mailbox) continue
      this.#cancel(mailbox, new GloveboxError("WORKER_LOST", `Agent ${type}/${key} lives at another worker.`))
      void this.#evict(mailbox)
    }
  }

  /** Gives up all agents that can be built elsewhere. */
  async giveUpAll(): Promise<void> {
    const mailboxes = this.#parts.directory.mailboxes()
    await Promise.all(
      mailboxes.filter(({ registration }) => registration.factory).map((one) => this.#evict(one)),
    )
    this.#tellGone()
  }

  #cancel(mailbox: Mailbox, reason: unknown): void {
    const { dispatcher } = this.#parts
    for (const delivery of [...mailbox.running, ...mailbox.queued()]) dispatcher.cancel(delivery, reason)
  }

  async #evict(mailbox: Mailbox): Promise<void> {
    try {
      await this.#parts.directory.evict(mailbox)
    } catch (error) {
      this.#logger.error(`Agent ${formatAgentId(mailbox.id)} failed to close`, { error })
    }
  }

  #tellGone(): void {
    const gone = this.#gone
    this.#gone = []
    for (const removed of chunks(gone)) this.#port.notify({ removed })
  }
}

function* chunks(ids: readonly AgentId[]): Generator<readonly AgentId[]> {
  for (let at = 0; at < ids.length; at += IDS_PER_NOTICE) yield ids.slice(at, at + IDS_PER_NOTICE)
}
