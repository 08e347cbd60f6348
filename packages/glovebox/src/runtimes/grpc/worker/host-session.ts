import { GloveboxError } from "../../../core/glovebox-error.ts"
import type { Logger } from "../../../core/logger.ts"
import type { RuntimeParts } from "../../../core/single-threaded/embedding.ts"
import type { Unacknowledged } from "../link/link-options.ts"
import type { Notice, WireMessage } from "../wire/wire-message.ts"
import type { ConnectionEvents } from "./host-connection.ts"
import type { Inbound } from "./inbound.ts"
import type { OutgoingCalls } from "./outgoing-calls.ts"
import type { OutgoingPublications } from "./outgoing-publications.ts"
import type { Quiet } from "./quiet.ts"
import type { Registrations } from "./registrations.ts"
import type { Tenants } from "./tenants.ts"
import type { WorkerPort } from "./worker-port.ts"

export interface HostSessionOptions {
  readonly port: WorkerPort
  readonly parts: RuntimeParts
  readonly calls: OutgoingCalls
  readonly publications: OutgoingPublications
  readonly inbound: Inbound
  readonly quiet: Quiet
  readonly registrations: Registrations
  readonly tenants: Tenants
  readonly logger: Logger
  readonly isDraining: () => boolean
  readonly onHostLost: () => void
  readonly openControl: () => void
  readonly closeControl: () => void
}

/** What a worker does with what its connection brings, and when it is lost. */
export class HostSession implements ConnectionEvents {
  readonly #options: HostSessionOptions

  constructor(options: HostSessionOptions) {
    this.#options = options
  }

  onMessage({ cloudEvent, notice, request, response, targets }: WireMessage): void {
    const { calls, inbound, port } = this.#options
    if (response) {
      port.active()
      calls.receive(response)
    } else if (request) inbound.request(request)
    else if (cloudEvent) inbound.event(cloudEvent, port.isPlain ? undefined : (targets ?? []))
    else if (notice) this.#notice(notice)
  }

  async onSession(unacknowledged: readonly Unacknowledged[]): Promise<void> {
    const { calls, inbound, isDraining, parts, port, publications, quiet, registrations, tenants } =
      this.#options
    const isFirst = port.connection?.connected === 0
    calls.sessionLost(unacknowledged)
    publications.sessionLost()
    inbound.sessionLost()
    await registrations.tellAll(parts.subscriptions.list(), ({ keys, subscription, type }, error) => {
      if (isFirst) throw error
      this.#options.logger.error("The host refused what it had taken before", { type, subscription, error })
      if (keys) tenants.evict(keys.map((key) => ({ type, key })))
    })
    tenants.tellAlive()
    quiet.sessionLost()
    if (isDraining()) port.notify({ leave: "drain" })
  }

  onConnected(): void {
    const { calls, openControl, publications } = this.#options
    openControl()
    calls.flush()
    publications.flush()
  }

  onDisconnected(): void {
    this.#options.closeControl()
  }

  onPlainLost(): void {
    this.#options.calls.sessionLost([])
    this.#options.inbound.sessionLost()
  }

  /** The host may have given the agents to other workers: they must not live here too. */
  onLeaseOver(): void {
    const { calls, inbound, onHostLost, publications, tenants } = this.#options
    onHostLost()
    inbound.cancelAll(
      new GloveboxError(
        "CONNECTION_LOST",
        "The worker was without its host for so long that its agents are gone.",
      ),
    )
    calls.refuseAll()
    publications.refuseAll()
    void tenants.giveUpAll()
  }

  #notice(notice: Notice): void {
    const { inbound, publications, quiet, tenants } = this.#options
    for (const refusal of notice.refusals ?? []) publications.refused(refusal)
    for (const cancellation of notice.cancellations ?? []) inbound.cancel(cancellation)
    if (notice.removed?.length) tenants.evict(notice.removed)
    if (notice.quiet_question) void quiet.question(notice.quiet_question.id)
    if (notice.quiet_answer) quiet.answer(notice.quiet_answer.id)
  }
}
