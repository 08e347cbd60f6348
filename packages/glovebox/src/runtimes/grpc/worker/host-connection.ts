import { type ChannelCredentials, Metadata } from "@grpc/grpc-js"
import { setTimeout as sleep } from "node:timers/promises"
import { GloveboxError } from "../../../core/glovebox-error.ts"
import type { Logger } from "../../../core/logger.ts"
import { errorMessage } from "../../../internal/error-message.ts"
import { LinkedAbort } from "../../../internal/linked-abort.ts"
import { Link } from "../link/link.ts"
import type { Unacknowledged } from "../link/link-options.ts"
import { channelCredentials, channelSecurityOptions } from "../security/index.ts"
import { CALL_METADATA, LINK_VERSION } from "../wire/metadata-names.ts"
import { AgentRpcClient } from "../wire/service.ts"
import type { WireMessage } from "../wire/wire-message.ts"
import { hostFailure, isPassing } from "./host-failure.ts"
import { Lease } from "./lease.ts"
import { type HostHello, type OpenedChannel, openChannel } from "./open-channel.ts"
import type { WorkerSettings } from "./worker-options.ts"

export interface ConnectionEvents {
  onMessage(message: WireMessage): void
  /** The host knows nothing of this worker: tell it all. Given is what the host before may not have had. */
  onSession(unacknowledged: readonly Unacknowledged[]): Promise<void>
  /** There is a way to the host again, or for the first time. */
  onConnected(): void
  onDisconnected(): void
  /** A host of AutoGen is gone, and with it all it knew. */
  onPlainLost(): void
  onLeaseOver(): void
}

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 2000
// Of the grace time: a worker must not be late because it waits.
const PAUSE_SHARE = 0.2
const SHORTEST_ATTEMPT_MS = 500
const END_MS = 500
const DEFAULT_HEARTBEAT_MS = 1000
// What may be on its way to a worker: more than a busy moment has, and little enough for beats to pass on a slow line.
const WINDOW_BYTES = 256 * 1024

/** Keeps the connection to the host: connects, and connects again, for as long as it is open. */
export class HostConnection {
  readonly #settings: WorkerSettings
  readonly #events: ConnectionEvents
  readonly #logger: Logger
  readonly #closed = new AbortController()
  readonly #lease: Lease
  #credentials: ChannelCredentials | undefined
  #attemptMs = 0
  #longestPauseMs = LONGEST_PAUSE_MS
  #client: AgentRpcClient | undefined
  #link: Link | undefined
  #isPlain = false
  #isReady = false
  #session: string | undefined
  #connected = 0
  #detached: Promise<unknown> = Promise.resolve()
  #streamEnd: Promise<void> = Promise.resolve()
  #onDetached: ((cause: unknown) => void) | undefined
  #upkeep: Promise<void> | undefined

  constructor(settings: WorkerSettings, logger: Logger, events: ConnectionEvents) {
    this.#settings = settings
    this.#logger = logger
    this.#events = events
    this.#lease = new Lease(
      () => this.#link?.lastAnsweredPingSentAt ?? 0,
      () => {
        this.#events.onLeaseOver()
        // Where this process was held up, not the connection, only another one begins another lease.
        this.#link?.detach(new GloveboxError("CONNECTION_LOST", "The host was not heard in time."))
      },
    )
  }

  /** The link while it is connected. */
  get link(): Link | undefined {
    return this.#isReady && this.#link?.isAttached ? this.#link : undefined
  }

  /** The link, also while it waits for the next connection; undefined when nothing can wait for one. */
  get waitingLink(): Link | undefined {
    return this.#isPlain && !this.#link?.isAttached ? undefined : this.#link
  }

  get isPlain(): boolean {
    return this.#isPlain
  }

  get isLeaseOver(): boolean {
    return this.#lease.isOver
  }

  /** How often it has connected, the first time included. */
  get connected(): number {
    return this.#connected
  }

  get client(): AgentRpcClient | undefined {
    return this.#client
  }

  /** What every call to the host brings. */
  metadata(): Metadata {
    const metadata = new Metadata()
    const { clientId, token } = this.#settings
    metadata.set(CALL_METADATA.clientId, clientId)
    if (token !== undefined) metadata.set(CALL_METADATA.authorization, `Bearer ${token}`)
    if (this.#session !== undefined) metadata.set(CALL_METADATA.session, this.#session)
    return metadata
  }

  /** Connects; tries again for `connectTimeoutMs` while nobody answers. */
  async open(): Promise<void> {
    const { connectTimeoutMs, hostAddress } = this.#settings
    this.#credentials = await channelCredentials(this.#settings, hostAddress)
    this.#attemptMs = connectTimeoutMs
    const endsAt = performance.now() + connectTimeoutMs
    try {
      await this.#connect(() => performance.now() < endsAt)
      this.#upkeep = this.#keep()
    } catch (error) {
      this.#client?.close()
      throw error
    }
  }

  /** Says goodbye when there is somebody to say it to. */
  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return
    this.#closed.abort(new GloveboxError("RUNTIME_STOPPED", "The connection was closed."))
    this.#lease.stop()
    const link = this.#link
    if (link) {
      const ended = this.#streamEnd
      if (link.isAttached && !this.#isPlain) link.send({ notice: { leave: "bye" } })
      const wasAttached = link.isAttached
      link.close()
      if (wasAttached) await Promise.race([ended, sleep(END_MS, undefined, { ref: false })])
    }
    this.#onDetached?.(this.#closed.signal.reason)
    this.#client?.close()
    await this.#upkeep
  }

  async #keep(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      const cause = await this.#detached
      if (this.#closed.signal.aborted) return
      this.#isReady = false
      this.#logger.warn("The connection to the host was lost", { cause: errorMessage(cause) })
      this.#events.onDisconnected()
      if (this.#isPlain) this.#events.onPlainLost()
      try {
        await this.#connect(() => true)
        this.#logger.info("Connected to the host again")
      } catch {
        // Only its closing ends it.
        return
      }
    }
  }

  /** Tries until it is connected. */
  async #connect(mayRetry: () => boolean): Promise<void> {
    const { signal } = this.#closed
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, this.#longestPauseMs)) {
      try {
        await this.#attemptInTime()
        return
      } catch (cause) {
        signal.throwIfAborted()
        const error = hostFailure(cause, `The host at ${this.#settings.hostAddress} cannot be used`)
        this.#link?.detach(error)
        const isFirst = this.#connected === 0
        if (isFirst && (!isPassing(error) || !mayRetry())) throw error
        this.#logger.debug("The host could not be reached", { error: error.message })
      }
      // Many workers lose a host at the same moment; they must not all come back at the same moment.
      await sleep(pauseMs * (0.5 + Math.random()), undefined, { signal }).catch(() => {})
      signal.throwIfAborted()
    }
  }

  async #attemptInTime(): Promise<void> {
    const withinMs = this.#attemptMs
    const inTime = new LinkedAbort(this.#closed.signal)
    const timer = setTimeout(() => {
      const text = `The host at ${this.#settings.hostAddress} gave no answer within ${Math.round(withinMs)} ms.`
      inTime.abort(new GloveboxError("HOST_UNAVAILABLE", text))
    }, withinMs)
    try {
      await this.#attempt(inTime.signal)
    } finally {
      clearTimeout(timer)
      inTime.unlink()
    }
  }

  async #attempt(signal: AbortSignal): Promise<void> {
    const client = this.#newClient()
    const askedAt = performance.now()
    const opened = await openChannel(client, this.#channelMetadata(), signal)
    this.#detached = new Promise((resolve) => {
      this.#onDetached = resolve
    })
    this.#streamEnd = new Promise((resolve) => {
      opened.stream.once("close", () => resolve())
      opened.stream.once("error", () => resolve())
      opened.stream.once("end", () => resolve())
    })
    const { hello } = opened
    this.#isPlain = hello === undefined
    this.#session = hello?.session
    if (hello) {
      this.#attemptMs = Math.max(SHORTEST_ATTEMPT_MS, hello.graceMs / 2)
      this.#longestPauseMs = Math.min(LONGEST_PAUSE_MS, hello.graceMs * PAUSE_SHARE)
    }
    if (hello?.isResumed && this.#link) {
      this.#attach(this.#link, opened)
      this.#lease.begin(hello.graceMs, askedAt)
    } else {
      await this.#beginSession(opened, hello, askedAt)
    }
    this.#isReady = true
    this.#connected += 1
    this.#events.onConnected()
  }

  /** Another one each time: the connection below may be dead without a sign of it. */
  #newClient(): AgentRpcClient {
    const { hostAddress, maxMessageBytes } = this.#settings
    if (!this.#credentials) throw new GloveboxError("RUNTIME_STATE", "The connection is not open.")
    this.#client?.close()
    this.#client = new AgentRpcClient(hostAddress, this.#credentials, {
      ...channelSecurityOptions(this.#settings, hostAddress),
      "grpc.max_receive_message_length": maxMessageBytes,
      "grpc.max_send_message_length": -1,
      "grpc.use_local_subchannel_pool": 1,
      "grpc-node.flow_control_window": WINDOW_BYTES,
      // A name server that does not answer would hold the process long after its end.
      "grpc.service_config_disable_resolution": 1,
    })
    return this.#client
  }

  async #beginSession(opened: OpenedChannel, hello: HostHello | undefined, askedAt: number): Promise<void> {
    const unacknowledged = this.#link?.reset() ?? []
    this.#link?.close()
    const link = this.#newLink(hello)
    this.#link = link
    this.#attach(link, opened)
    if (hello) this.#lease.begin(hello.graceMs, askedAt)
    else this.#lease.stop()
    await this.#events.onSession(unacknowledged)
    if (!link.isAttached) throw new GloveboxError("HOST_UNAVAILABLE", "The connection was lost at once.")
  }

  #newLink(hello: HostHello | undefined): Link {
    const { maxQueued, maxQueuedBytes } = this.#settings
    const link: Link = new Link({
      onMessage: (message) => this.#events.onMessage(message),
      onDetached: (cause) => {
        if (link === this.#link) this.#onDetached?.(cause)
      },
      heartbeatMs: hello?.heartbeatMs ?? DEFAULT_HEARTBEAT_MS,
      maxMessageBytes: hello?.maxMessageBytes,
      maxQueued,
      maxQueuedBytes,
      isPlain: hello === undefined,
    })
    return link
  }

  #attach(link: Link, { hello, stream }: OpenedChannel): void {
    link.attach(stream, hello?.received ?? 0, {
      maxMessageBytes: hello?.maxMessageBytes,
      heartbeatMs: hello?.heartbeatMs,
    })
  }

  #channelMetadata(): Metadata {
    const { maxMessageBytes, maxOutstanding } = this.#settings
    const metadata = this.metadata()
    metadata.set(CALL_METADATA.link, LINK_VERSION)
    metadata.set(CALL_METADATA.received, String(this.#link?.received ?? 0))
    metadata.set(CALL_METADATA.maxMessage, String(maxMessageBytes))
    metadata.set(CALL_METADATA.credits, String(maxOutstanding))
    return metadata
  }
}
