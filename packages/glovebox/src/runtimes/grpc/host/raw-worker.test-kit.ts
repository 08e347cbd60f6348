import { randomUUID } from "node:crypto"
import { credentials, Metadata } from "@grpc/grpc-js"
import { Link } from "../link/link.ts"
import { CALL_METADATA } from "../wire/metadata-names.ts"
import { AgentRpcClient } from "../wire/service.ts"
import type { ControlMessage, RpcRequest, RpcResponse, WireMessage } from "../wire/wire-message.ts"

export interface RawWorkerOptions {
  readonly clientId?: string
  /** False: as AutoGen's worker does it. @default true */
  readonly isLink?: boolean
  readonly token?: string
  readonly credits?: number
  readonly maxMessageBytes?: number
}

type Channel = ReturnType<AgentRpcClient["openChannel"]>

/** A worker without a runtime: it shows every message that comes, and sends what a test wants. */
export class RawWorker {
  readonly clientId: string
  readonly client: AgentRpcClient
  readonly received: WireMessage[] = []
  readonly link: Link
  session = ""
  isResumed = false
  headers = new Metadata()
  stream: Channel | undefined
  onMessage: (message: WireMessage) => void = () => {}
  readonly #options: RawWorkerOptions
  #waiters: {
    readonly matches: (message: WireMessage) => boolean
    readonly found: (m: WireMessage) => void
  }[] = []

  constructor(address: string, options: RawWorkerOptions = {}) {
    this.#options = options
    this.clientId = options.clientId ?? randomUUID()
    this.client = new AgentRpcClient(address, credentials.createInsecure(), {
      "grpc.max_receive_message_length": -1,
      "grpc.max_send_message_length": -1,
      // One connection for each, so that a test can cut one alone.
      "grpc.use_local_subchannel_pool": 1,
    })
    this.link = new Link({
      onMessage: (message) => this.#take(message),
      onDetached: () => {},
      heartbeatMs: 200,
      maxQueued: 100_000,
      maxQueuedBytes: 2 ** 30,
      maxMessageBytes: 2 ** 30,
      isPlain: options.isLink === false,
    })
  }

  static async open(address: string, options: RawWorkerOptions = {}): Promise<RawWorker> {
    const worker = new RawWorker(address, options)
    await worker.connect()
    return worker
  }

  metadata(extra: Readonly<Record<string, string>> = {}): Metadata {
    const metadata = new Metadata()
    metadata.set(CALL_METADATA.clientId, this.clientId)
    const { token } = this.#options
    if (token !== undefined) metadata.set(CALL_METADATA.authorization, `Bearer ${token}`)
    if (this.session !== "") metadata.set(CALL_METADATA.session, this.session)
    for (const [name, value] of Object.entries(extra)) metadata.set(name, value)
    return metadata
  }

  /** Opens a channel, or takes up the session that was; rejects with gRPC's error when it is refused. */
  async connect(): Promise<void> {
    const { isLink = true, credits = 1000, maxMessageBytes } = this.#options
    const metadata = this.metadata(
      isLink
        ? {
            [CALL_METADATA.link]: "1",
            [CALL_METADATA.received]: String(this.link.received),
            [CALL_METADATA.credits]: String(credits),
            ...(maxMessageBytes !== undefined && { [CALL_METADATA.maxMessage]: String(maxMessageBytes) }),
          }
        : {},
    )
    const stream = this.client.openChannel(metadata)
    this.stream = stream
    this.headers = await new Promise<Metadata>((resolve, reject) => {
      stream.on("metadata", resolve)
      stream.on("error", reject)
    })
    this.isResumed = this.header(CALL_METADATA.resumed) === "1"
    if (isLink) this.session = this.header(CALL_METADATA.session)
    if (isLink && !this.isResumed) this.link.reset()
    this.link.attach(stream, Number(this.header(CALL_METADATA.received) || 0))
  }

  header(name: string): string {
    return String(this.headers.get(name)[0] ?? "")
  }

  async register(type: string, keys: readonly string[] = []): Promise<void> {
    await this.client.registerAgent({ type, keys }, this.metadata())
  }

  async subscribe(topic_type: string, agent_type: string, id: string = randomUUID()): Promise<string> {
    const subscription = { id, typeSubscription: { topic_type, agent_type } }
    await this.client.addSubscription({ subscription }, this.metadata())
    return id
  }

  /** Answers each request with its own payload. */
  echo(): this {
    this.onMessage = ({ request }) => {
      if (request) this.link.send({ response: { request_id: request.request_id, payload: request.payload } })
    }
    return this
  }

  async send(target: string, options: Partial<RpcRequest> = {}): Promise<RpcResponse> {
    return await this.answerTo(this.post(target, options))
  }

  /** Sends a request and does not wait; returns its id. */
  post(target: string, options: Partial<RpcRequest> = {}): string {
    const [type = "", key = ""] = target.split("/")
    const request_id = options.request_id ?? randomUUID()
    this.link.send({ request: { target: { type, key }, payload: payload("hello"), ...options, request_id } })
    return request_id
  }

  async answerTo(id: string): Promise<RpcResponse> {
    const { response } = await this.next(({ response: found }) => found?.request_id === id)
    if (!response) throw new Error("no response")
    return response
  }

  publish(topicType: string, source = "default", id: string = randomUUID()): number {
    return this.link.send({ cloudEvent: { id, type: topicType, source, binary_data: Buffer.from("{}") } })
  }

  /** The next request that comes, or one that came and was not taken. */
  async request(): Promise<RpcRequest> {
    const { request } = await this.next((message) => Boolean(message.request))
    if (!request) throw new Error("no request")
    return request
  }

  async next(matches: (message: WireMessage) => boolean): Promise<WireMessage> {
    const index = this.received.findIndex(matches)
    if (index >= 0) return this.received.splice(index, 1)[0] ?? {}
    return await new Promise<WireMessage>((found) => {
      this.#waiters.push({ matches, found })
    })
  }

  /** Opens the control channel; each message that comes is given to the callback. */
  async control(
    onMessage: (message: ControlMessage) => void,
  ): Promise<ReturnType<AgentRpcClient["openControlChannel"]>> {
    const stream = this.client.openControlChannel(this.metadata())
    stream.on("data", onMessage)
    await new Promise((resolve, reject) => {
      stream.on("metadata", resolve)
      stream.on("error", reject)
    })
    stream.on("error", () => {})
    return stream
  }

  /** As a connection that breaks. */
  cut(): void {
    this.link.detach()
  }

  close(): void {
    this.link.close()
    this.stream?.cancel()
    this.client.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #take(message: WireMessage): void {
    this.onMessage(message)
    const waiter = this.#waiters.find(({ matches }) => matches(message))
    if (!waiter) {
      this.received.push(message)
      return
    }
    this.#waiters = this.#waiters.filter((other) => other !== waiter)
    waiter.found(message)
  }
}

export function payload(text: string): NonNullable<RpcRequest["payload"]> {
  return {
    data_type: "Text",
    data_content_type: "application/json",
    data: Buffer.from(JSON.stringify({ text })),
  }
}

export function textOf({ payload: found, error }: RpcResponse): string {
  if (error) throw new Error(error)
  return (JSON.parse(Buffer.from(found?.data ?? []).toString()) as { text: string }).text
}
