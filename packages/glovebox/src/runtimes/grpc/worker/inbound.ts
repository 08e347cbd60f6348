import type { AccessScope } from "../../../core/access-guard.ts"
import { type AgentId, checkAgentId } from "../../../core/agent-id.ts"
import type { Reply } from "../../../core/agent.ts"
import { GloveboxError } from "../../../core/glovebox-error.ts"
import type { Message } from "../../../core/message.ts"
import type { Payload } from "../../../core/message-serializer.ts"
import type { SerializationRegistry } from "../../../core/serialization.ts"
import { type Arrival, Delivery } from "../../../core/single-threaded/delivery.ts"
import type { RuntimeParts } from "../../../core/single-threaded/embedding.ts"
import { Publication } from "../../../core/single-threaded/publication.ts"
import type { TraceMetadata } from "../../../core/telemetry/trace-context.ts"
import { UnknownPayload } from "../../../core/unknown-payload.ts"
import { readEvent } from "../wire/cloud-event.ts"
import { MESSAGE_METADATA } from "../wire/metadata-names.ts"
import { errorFields } from "../wire/wire-error.ts"
import type { Cancellation, CloudEvent, RpcRequest, RpcResponse, WireAgentId } from "../wire/wire-message.ts"
import { type ChainLink, parseChains, watchChain } from "./chain.ts"
import type { HostPort } from "./host-port.ts"
import { MESSAGE_ID_METADATA, fromWirePayload, toWirePayload, writeMessage } from "./message-types.ts"
import type { OutgoingCall } from "./outgoing-call.ts"
import { RecentIds } from "./recent-ids.ts"

export interface InboundOptions {
  readonly parts: RuntimeParts
  readonly serialization: SerializationRegistry
  readonly port: HostPort
  readonly findCall: (id: string) => OutgoingCall | undefined
  /** Whether somebody waits for a send of another worker, or for as long as nobody does, a promise of it. */
  readonly isWaitedFor: (id: string) => Promise<boolean>
  readonly accessOfEvent: (id: string) => AccessScope | undefined
}

type Chains = readonly (readonly ChainLink[])[]

/** Takes what comes from the host to the agents of this worker, and their answers back. */
export class Inbound {
  readonly #options: InboundOptions
  readonly #requests = new Map<string, Delivery>()
  readonly #events = new Map<string, Publication>()
  readonly #recent = new RecentIds()
  #handled = 0

  constructor(options: InboundOptions) {
    this.#options = options
  }

  get outstanding(): number {
    return this.#requests.size + this.#events.size
  }

  /** Every request is answered, once. */
  request(request: RpcRequest): void {
    const { parts } = this.#options
    this.#options.port.active()
    try {
      parts.lifecycle.checkOpen()
      this.#options.port.checkUp()
      this.#deliver(request)
    } catch (error) {
      this.#respond({ request_id: request.request_id, ...errorFields(error) })
    }
  }

  /** `targets` are the agent types it is for; undefined when the host leaves that to the subscriptions here. */
  event(event: CloudEvent, targets: readonly string[] | undefined): void {
    const { parts, port } = this.#options
    port.active()
    // A host that lost the connection may send it again.
    if (!this.#recent.add(event.id)) {
      this.#eventEnded()
      return
    }
    try {
      parts.lifecycle.checkOpen()
      port.checkUp()
      this.#publish(event, targets)
    } catch (error) {
      parts.log.unreadable(event.id, error)
      this.#eventEnded()
    }
  }

  /** The sender gave up. */
  cancel({ id, reason }: Cancellation): void {
    const item = this.#requests.get(id) ?? this.#events.get(id)
    if (!item) return
    this.#options.parts.dispatcher.cancel(
      item,
      new DOMException(reason || "The sender gave up.", "AbortError"),
    )
  }

  /** Ends everything: its senders are told, as soon as the host can be. */
  cancelAll(reason: unknown): void {
    const { dispatcher } = this.#options.parts
    for (const item of [...this.#requests.values(), ...this.#events.values()]) dispatcher.cancel(item, reason)
  }

  /** The host that brought these is gone, and so is whoever waits for an answer. */
  sessionLost(): void {
    const { dispatcher } = this.#options.parts
    const lost = new GloveboxError("CONNECTION_LOST", "The host that brought the message is gone.")
    for (const delivery of this.#requests.values()) dispatcher.cancel(delivery, lost)
    this.#requests.clear()
  }

  #deliver(request: RpcRequest): void {
    const { directory } = this.#options.parts
    const { metadata = {}, payload, request_id: id } = request
    const recipient = agentIdOf(request.target, "The request names no agent.")
    if (!payload) throw new GloveboxError("MESSAGE_INVALID", "The request has no payload.")
    const sender = request.source?.type ? agentIdOf(request.source, "") : undefined
    const { message, reread } = this.#read(fromWirePayload(payload))
    const chain = metadata[MESSAGE_METADATA.chain] ?? ""
    const caller = {
      resolve: (reply: Reply): void => this.#answer(id, reply),
      reject: (error: unknown): void => this.#fail(id, error),
    }
    const mailbox = directory.mailbox(recipient)
    const delivery = new Delivery(mailbox, message, sender, metadata[MESSAGE_ID_METADATA] ?? id, caller)
    const chains = parseChains(chain)
    delivery.arrival = { chain, reread }
    delivery.trace = traceOf(metadata)
    delivery.senderAccess = this.#accessOf(chains)
    this.#requests.set(id, delivery)
    try {
      this.#receive(delivery, chains)
    } catch (error) {
      this.#requests.delete(id)
      delivery.end()
      throw error
    }
  }

  /** Lets it through ahead of the others where what runs there waits for it. */
  #receive(delivery: Delivery, chains: Chains): void {
    const { findCall, isWaitedFor, parts } = this.#options
    let isInPlace = false
    const onWaiter = (waiter: Delivery): void => {
      if (isInPlace) parts.dispatcher.waitedFor(delivery, waiter)
      else if (waiter.phase !== "done") delivery.addWaiter(waiter)
    }
    for (const links of chains) void watchChain(delivery, links, findCall, isWaitedFor, onWaiter)
    parts.dispatcher.receive(delivery)
    isInPlace = true
    for (const waiter of delivery.waiters) parts.dispatcher.waitedFor(delivery, waiter)
  }

  #accessOf(chains: Chains): AccessScope | undefined {
    for (const { id } of chains.flat().toReversed()) {
      const call = this.#options.findCall(id)
      if (call) return call.access
    }
    return undefined
  }

  #publish(event: CloudEvent, targets: readonly string[] | undefined): void {
    const { dispatcher, subscriptions } = this.#options.parts
    const { id, payload, sender, topicId, trace } = readEvent(event)
    const { message, reread } = this.#read(payload)
    const publication = new Publication(message, topicId, sender, id)
    publication.trace = trace
    const arrival: Arrival = { chain: "", reread }
    const access = this.#options.accessOfEvent(id)
    this.#events.set(id, publication)
    dispatcher.receiveAll(publication, targets ?? subscriptions.agentTypesFor(topicId.type), (delivery) => {
      delivery.arrival = arrival
      delivery.senderAccess = access
    })
    publication.watch(() => {
      this.#events.delete(id)
      this.#eventEnded()
    })
  }

  #read(payload: Payload): Pick<Arrival, "reread"> & { readonly message: Message } {
    const { serialization } = this.#options
    const message = serialization.deserialize(payload)
    if (!UnknownPayload.is(message)) return { message, reread: undefined }
    const { contentType, data, typeName } = message
    // The agent may not exist yet, and only it knows what it can read.
    return { message, reread: () => serialization.deserialize({ contentType, data, typeName }) }
  }

  #answer(id: string, reply: Reply): void {
    if (reply === undefined) {
      this.#respond({ request_id: id, metadata: { [MESSAGE_METADATA.empty]: "1" } })
      return
    }
    try {
      const payload = toWirePayload(writeMessage(this.#options.serialization, reply))
      this.#respond({ request_id: id, payload })
    } catch (error) {
      this.#fail(id, error)
    }
  }

  #fail(id: string, error: unknown): void {
    this.#respond({ request_id: id, ...errorFields(error) })
  }

  #respond(response: RpcResponse): void {
    // Where the session is lost, nobody waits for it any more.
    if (!this.#requests.delete(response.request_id) && !response.error) return
    const { parts, port } = this.#options
    port.active()
    try {
      port.answer(response)
    } catch (error) {
      parts.log.unreadable(response.request_id, error)
      if (GloveboxError.is(error, "MESSAGE_TOO_LARGE")) {
        port.answer({ request_id: response.request_id, ...errorFields(error) })
      }
    }
  }

  #eventEnded(): void {
    this.#handled += 1
    if (this.#handled === 1) setImmediate(this.#tellHandled)
  }

  readonly #tellHandled = (): void => {
    const handled = this.#handled
    this.#handled = 0
    if (handled > 0) this.#options.port.notify({ handled })
  }
}

function agentIdOf(id: WireAgentId | null | undefined, otherwise: string): AgentId {
  if (!id) throw new GloveboxError("AGENT_ID_INVALID", otherwise)
  const { key, type } = id
  const own = { type, key }
  checkAgentId(own)
  return own
}

function traceOf(metadata: Readonly<Record<string, string>>): TraceMetadata | undefined {
  const traceparent = metadata[MESSAGE_METADATA.traceparent]
  if (traceparent === undefined) return undefined
  const tracestate = metadata[MESSAGE_METADATA.tracestate]
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
}
