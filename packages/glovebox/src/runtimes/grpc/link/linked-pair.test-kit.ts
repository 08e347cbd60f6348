import {
  type ClientDuplexStream,
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  credentials,
} from "@grpc/grpc-js"
import { AGENT_RPC_SERVICE, AgentRpcClient } from "../wire/service.ts"
import type { WireMessage } from "../wire/wire-message.ts"
import { Link } from "./link.ts"
import type { LinkOptions } from "./link-options.ts"

export type ServerStream = ServerDuplexStream<Buffer, Buffer>
export type ClientStream = ClientDuplexStream<Buffer, Buffer>

/** A gRPC server on loopback whose channels go to `onChannel`, and clients of it. */
export async function openLoopback(onChannel: (stream: ServerStream) => void): Promise<{
  readonly client: AgentRpcClient
  /** Another connection in place of the one before, as a worker has one for each of its channels. */
  reconnect(): AgentRpcClient
  [Symbol.asyncDispose](): Promise<void>
}> {
  const server = new Server()
  server.addService(AGENT_RPC_SERVICE, { OpenChannel: onChannel })
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    )
  })
  const connect = (): AgentRpcClient =>
    new AgentRpcClient(`127.0.0.1:${port}`, credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1,
    })
  let client = connect()
  return {
    get client() {
      return client
    },
    reconnect() {
      client.close()
      return (client = connect())
    },
    [Symbol.asyncDispose]: async () => {
      client.close()
      server.forceShutdown()
    },
  }
}

/** Collects what a link gets, and lets a test wait for a number of messages. */
export class LinkEnd {
  readonly link: Link
  readonly messages: WireMessage[] = []
  readonly causes: unknown[] = []
  readonly #watchers = new Set<() => void>()

  constructor(options: Partial<LinkOptions> = {}) {
    this.link = new Link({
      heartbeatMs: 1000,
      maxQueued: 10_000,
      maxQueuedBytes: 64 * 1024 * 1024,
      ...options,
      onMessage: (message) => {
        this.messages.push(message)
        options.onMessage?.(message)
        this.#changed()
      },
      onDetached: (cause) => {
        this.causes.push(cause)
        options.onDetached?.(cause)
        this.#changed()
      },
    })
  }

  get requestIds(): readonly string[] {
    return this.messages.map((message) => message.request?.request_id ?? "")
  }

  async until(condition: () => boolean): Promise<void> {
    if (condition()) return
    await new Promise<void>((resolve) => {
      const watcher = (): void => {
        if (!condition()) return
        this.#watchers.delete(watcher)
        resolve()
      }
      this.#watchers.add(watcher)
    })
  }

  async whenGot(count: number): Promise<void> {
    await this.until(() => this.messages.length >= count)
  }

  #changed(): void {
    for (const watcher of this.#watchers) watcher()
  }
}

/** Two links over real streams, which may be cut and joined again. */
export class LinkedPair {
  readonly worker: LinkEnd
  readonly host: LinkEnd
  #loopback: Awaited<ReturnType<typeof openLoopback>> | undefined
  #onServerStream: (stream: ServerStream) => void = () => {}

  constructor(worker: Partial<LinkOptions> = {}, host: Partial<LinkOptions> = {}) {
    this.worker = new LinkEnd(worker)
    this.host = new LinkEnd(host)
  }

  /** Joins the two with a new stream, as worker and host do it. */
  async join(): Promise<{ readonly client: ClientStream; readonly server: ServerStream }> {
    this.#loopback ??= await openLoopback((stream) => this.#onServerStream(stream))
    const accepted = new Promise<ServerStream>((resolve) => {
      this.#onServerStream = (stream) => {
        this.host.link.detach()
        const metadata = new Metadata()
        metadata.set("glovebox-received", String(this.host.link.received))
        stream.sendMetadata(metadata)
        this.host.link.attach(stream, Number(stream.metadata.get("glovebox-received")[0]))
        resolve(stream)
      }
    })
    this.worker.link.detach()
    const metadata = new Metadata()
    metadata.set("glovebox-received", String(this.worker.link.received))
    const client = this.#loopback.reconnect().openChannel(metadata)
    const answer = await new Promise<Metadata>((resolve, reject) => {
      client.on("metadata", resolve)
      client.on("error", reject)
    })
    this.worker.link.attach(client, Number(answer.get("glovebox-received")[0]))
    return { client, server: await accepted }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.worker.link.close()
    this.host.link.close()
    await this.#loopback?.[Symbol.asyncDispose]()
  }
}

export function requestOf(id: number | string, size = 0): WireMessage {
  return {
    request: {
      request_id: String(id),
      payload: { data_type: "Ping", data_content_type: "application/json", data: Buffer.alloc(size, 0x61) },
    },
  }
}
