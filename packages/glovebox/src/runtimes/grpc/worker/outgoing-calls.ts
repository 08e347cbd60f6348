import { type AgentId, checkAgentId, formatAgentId, sameAgentId } from "../../../core/agent-id.ts"
import type { ExpectReply, SendOptions } from "../../../core/agent-runtime.ts"
import type { Reply } from "../../../core/agent.ts"
import { GloveboxError } from "../../../core/glovebox-error.ts"
import type { Message } from "../../../core/message.ts"
import type { RuntimeEvent } from "../../../core/runtime-event.ts"
import type { SerializationRegistry } from "../../../core/serialization.ts"
import { droppedError } from "../../../core/single-threaded/delivery-errors.ts"
import { currentDelivery } from "../../../core/single-threaded/dispatcher.ts"
import type { RuntimeParts } from "../../../core/single-threaded/embedding.ts"
import { checkSend, expecting } from "../../../core/single-threaded/send-checks.ts"
import { abortable } from "../../../internal/abortable.ts"
import { errorMessage } from "../../../internal/error-message.ts"
import type { Unacknowledged } from "../link/link-options.ts"
import { MESSAGE_METADATA } from "../wire/metadata-names.ts"
import { errorOfResponse } from "../wire/wire-error.ts"
import type { RpcRequest, RpcResponse } from "../wire/wire-message.ts"
import { chainOf } from "./chain.ts"
import type { HostPort } from "./host-port.ts"
import { MESSAGE_ID_METADATA, fromWirePayload, toWirePayload, writeMessage } from "./message-types.ts"
import { OutgoingCall } from "./outgoing-call.ts"
import { startTrace } from "./start-trace.ts"
import { Turns } from "./turns.ts"

export interface OutgoingOptions {
  readonly clientId: string
  readonly sendTimeoutMs: number
  readonly parts: RuntimeParts
  readonly serialization: SerializationRegistry
  readonly port: HostPort
}

/** The sends of this worker that wait for a reply. */
export class OutgoingCalls {
  readonly #options: OutgoingOptions
  readonly #calls = new Map<string, OutgoingCall>()
  readonly #turns = new Turns()
  #made = 0
  #fresh: OutgoingCall[] = []

  constructor(options: OutgoingOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#calls.size
  }

  find(id: string): OutgoingCall | undefined {
    return this.#calls.get(id)
  }

  send(
    message: Message,
    recipient: AgentId,
    options: SendOptions & Partial<ExpectReply<object>>,
    resolve: (reply: Reply) => void,
    reject: (error: unknown) => void,
  ): OutgoingCall {
    const { clientId, parts, port, sendTimeoutMs, serialization } = this.#options
    parts.lifecycle.checkOpen()
    checkSend(message, options)
    checkAgentId(recipient)
    port.checkUp()
    const { expect } = options
    if (expect) serialization.addType(expect)
    const cause = currentDelivery()
    const call = new OutgoingCall({
      id: `${clientId}:${++this.#made}`,
      message,
      recipient: { type: recipient.type, key: recipient.key },
      options,
      timeoutMs: options.timeoutMs ?? sendTimeoutMs,
      cause,
      resolve: expect ? expecting(expect, recipient, resolve, reject) : resolve,
      reject,
      onTimeout: (late) => this.#giveUp(late, timeoutError(late)),
      onAbort: (aborted, reason) => this.#giveUp(aborted, reason),
      onSettled: (settled) => this.#settled(settled),
    })
    this.#begin(call, options)
    return call
  }

  /** A response of the host; one that nobody waits for any more is ignored. */
  receive(response: RpcResponse): void {
    const call = this.#calls.get(response.request_id)
    if (!call) return
    const error = errorOfResponse(response)
    if (error) {
      call.refuse(error)
      return
    }
    try {
      const { payload } = response
      call.answer(payload ? this.#options.serialization.deserialize(fromWirePayload(payload)) : undefined)
    } catch (cause) {
      call.refuse(cause)
    }
  }

  /** Does something with an agent between the sends before and after. */
  async inOrder<T>(agentId: AgentId, work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const earlier = [...this.#calls.values()].filter((call) => sameAgentId(call.agentId, agentId))
    const turn = this.#turns.take(formatAgentId(agentId))
    try {
      await abortable(turn.previous ?? Promise.resolve(), signal)
      const ended = earlier.map((call) => new Promise<void>((resolve) => call.onEnd(resolve)))
      await abortable(Promise.all(ended), signal)
      return await work()
    } finally {
      turn.end()
    }
  }

  /** Writes what was held back while there was no connection. */
  flush(): void {
    for (const call of this.#calls.values()) if (call.isHeld) this.#write(call)
  }

  /** The host that had these is gone: what it may have had is lost, what it cannot have had is sent again. */
  sessionLost(unacknowledged: readonly Unacknowledged[]): void {
    const unwritten = new Set<string>()
    for (const { isWritten, message } of unacknowledged) {
      if (message.request && !isWritten) unwritten.add(message.request.request_id)
    }
    for (const call of this.#calls.values()) {
      if (!call.isPosted) continue
      if (unwritten.has(call.id)) {
        call.isPosted = false
        call.isHeld = true
      } else {
        call.refuse(connectionLost(call))
      }
    }
  }

  /** Nobody is there to wait for. */
  refuseAll(): void {
    for (const call of this.#calls.values()) {
      call.refuse(call.isPosted ? connectionLost(call) : this.#options.port.unavailable())
    }
  }

  #begin(call: OutgoingCall, { signal }: SendOptions): void {
    const { dispatcher, interventions, log } = this.#options.parts
    this.#calls.set(call.id, call)
    dispatcher.pending.add(call)
    try {
      startTrace(this.#options.parts.tracing, call, call.agentId, "send")
      if (signal) call.watch(signal)
      if (log.events.has("message-sent")) {
        const { agentId: recipient, message, messageId, sender } = call
        log.events.emit({ type: "message-sent", message, messageId, sender, recipient })
      }
      if (call.isSettled) return
      if (interventions.seesSends || this.#mustWait(call.agentId)) void this.#intercept(call)
      else this.#post(call)
    } catch (error) {
      call.refuse(error)
    }
  }

  async #intercept(call: OutgoingCall): Promise<void> {
    const { interventions, log } = this.#options.parts
    const turn = this.#turns.take(formatAgentId(call.agentId))
    try {
      const { agentId: recipient, message, messageId, sender, signal } = call
      const outcome = await interventions.send(message, { messageId, sender, signal, recipient })
      await turn.previous
      if (call.isSettled) return
      if (outcome.action === "deliver") {
        call.message = outcome.message
        this.#post(call)
      } else {
        log.dropped(call, "send", outcome.reason)
        call.refuse(droppedError(outcome.reason))
      }
    } catch (error) {
      if (call.isSettled) return
      log.undeliverable(call, error, true)
      call.refuse(error)
    } finally {
      turn.end()
    }
  }

  #mustWait(agentId: AgentId): boolean {
    return !this.#turns.isEmpty && this.#turns.has(formatAgentId(agentId))
  }

  #post(call: OutgoingCall): void {
    if (!call.cause) {
      this.#write(call)
      return
    }
    // Written when the handler has had the time to wait for it, because the host is told whether it does.
    if (this.#fresh.length === 0) process.nextTick(this.#writeFresh)
    this.#fresh.push(call)
  }

  readonly #writeFresh = (): void => {
    const calls = this.#fresh
    this.#fresh = []
    for (const call of calls) this.#write(call)
  }

  #write(call: OutgoingCall): void {
    if (call.isSettled) return
    try {
      const { link } = this.#options.port
      call.isHeld = link === undefined
      if (link) {
        link.send({ request: this.#requestOf(call) })
        call.isPosted = true
        this.#options.port.active()
      } else {
        this.#options.port.checkRoom(this.#calls.size)
      }
    } catch (error) {
      call.refuse(error)
    }
  }

  #requestOf(call: OutgoingCall): RpcRequest {
    const { port, serialization } = this.#options
    const { agentId: target, id, knownMessageId, sender, trace } = call
    const metadata: Record<string, string> = {}
    if (trace) {
      metadata[MESSAGE_METADATA.traceparent] = trace.traceparent
      if (trace.tracestate !== undefined) metadata[MESSAGE_METADATA.tracestate] = trace.tracestate
    }
    if (!port.isPlain) {
      metadata[MESSAGE_METADATA.timeoutMs] = String(Math.max(1, Math.ceil(call.deadline - performance.now())))
      const chain = chainOf(call)
      if (chain !== "") metadata[MESSAGE_METADATA.chain] = chain
      if (knownMessageId !== undefined) metadata[MESSAGE_ID_METADATA] = knownMessageId
    }
    const payload = toWirePayload(writeMessage(serialization, call.message))
    return { request_id: id, source: sender, target, payload, metadata }
  }

  #giveUp(call: OutgoingCall, reason: unknown): void {
    if (call.isSettled) return
    const { parts, port } = this.#options
    // What the host has is told of where it is cancelled.
    if (call.isPosted) port.notify({ cancellations: [{ id: call.id, reason: errorMessage(reason) }] })
    else if (parts.log.events.has("message-cancelled")) parts.log.events.emit(cancelled(call, reason))
    call.refuse(reason)
  }

  #settled(call: OutgoingCall): void {
    this.#calls.delete(call.id)
    this.#options.parts.dispatcher.finish(call)
  }
}

function cancelled(call: OutgoingCall, reason: unknown): RuntimeEvent {
  const { agentId: recipient, message, messageId, sender, topicId } = call
  return {
    type: "message-cancelled",
    message,
    messageId,
    sender,
    recipient,
    topicId,
    reason,
    started: false,
  }
}

function timeoutError({ agentId, timeoutMs }: OutgoingCall): GloveboxError {
  return new GloveboxError(
    "SEND_TIMEOUT",
    `Agent ${formatAgentId(agentId)} gave no reply within ${timeoutMs} ms. Raise timeoutMs, or look at what the agent waits for.`,
  )
}

function connectionLost({ agentId }: OutgoingCall): GloveboxError {
  return new GloveboxError(
    "CONNECTION_LOST",
    `The connection to the host was lost before agent ${formatAgentId(agentId)} answered. It may have handled the message.`,
  )
}
