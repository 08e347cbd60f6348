import { once } from "node:events"
import { type AddressInfo, type Server, type Socket, connect, createServer } from "node:net"
import { type AllowList, SandboxPolicy, allowListOf } from "../policy/index.ts"
import {
  type EgressConnection,
  type EgressEvent,
  EgressGate,
  type EgressLookup,
  type GateSecret,
} from "./index.ts"

export type NetworkInput = Exclude<
  NonNullable<ConstructorParameters<typeof SandboxPolicy>[0]>["network"],
  undefined
>

/** The allow-list of a policy that is written so. */
export function allowList(network: NetworkInput): AllowList {
  return allowListOf(new SandboxPolicy({ network }).fields.network)!
}

/** A server that does with each connection what the test says. */
export class TestServer implements AsyncDisposable {
  readonly #server: Server
  readonly sockets: Socket[] = []
  /** All that its connections have sent, in latin1. */
  received = ""

  private constructor(onSocket: (socket: Socket, server: TestServer) => void) {
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      this.sockets.push(socket)
      socket.on("error", () => {})
      socket.on("data", (data: Buffer) => {
        this.received += data.toString("latin1")
        socket.emit("text")
      })
      onSocket(socket, this)
    })
  }

  static async start(
    onSocket: (socket: Socket, server: TestServer) => void = () => {},
    { host = "127.0.0.1", port = 0 } = {},
  ): Promise<TestServer> {
    const server = new TestServer(onSocket)
    server.#server.listen(port, host)
    await once(server.#server, "listening")
    return server
  }

  /** One that sends back what it gets. */
  static echo(): Promise<TestServer> {
    return TestServer.start((socket) => void socket.pipe(socket))
  }

  /** One that answers each request with the text, once it has its head, and closes. */
  static http(
    answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
  ): Promise<TestServer> {
    return TestServer.start((socket, server) => {
      socket.on("text", () => {
        if (server.received.includes("\r\n\r\n")) socket.end(answer)
      })
    })
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, "close")
  }
}

/** A client as a program in a sandbox would be. */
export class TestClient {
  readonly socket: Socket
  received = ""
  readonly ended: Promise<void>

  constructor(socket: Socket) {
    this.socket = socket
    socket.on("error", () => {})
    socket.on("data", (data: Buffer) => {
      this.received += data.toString("latin1")
    })
    socket.once("end", () => socket.end())
    this.ended = new Promise((resolve) => socket.once("close", () => resolve()))
  }

  send(text: string | Buffer): this {
    this.socket.write(typeof text === "string" ? Buffer.from(text, "latin1") : text)
    return this
  }

  /** Waits until it has got the text. */
  async until(text: string): Promise<string> {
    while (!this.received.includes(text)) {
      if (this.socket.destroyed) throw new Error(`closed with ${JSON.stringify(this.received)}`)
      await Promise.race([once(this.socket, "data"), this.ended])
    }
    return this.received
  }

  /** All that it gets until the end. */
  async all(): Promise<string> {
    await this.ended
    return this.received
  }
}

export interface TestGateOptions {
  readonly network: NetworkInput
  readonly lookup?: EgressLookup
  readonly secrets?: readonly GateSecret[]
  readonly ca?: readonly string[]
}

/** What tells a client that it has its connection. */
export const ESTABLISHED = "HTTP/1.1 200 Connection established\r\n\r\n"

/** A gate behind a port of this machine. */
export class TestGate implements AsyncDisposable {
  readonly gate: EgressGate
  readonly events: EgressEvent[] = []
  readonly #listener: Server
  readonly #clients: TestClient[] = []
  readonly #waiting = new Set<() => void>()

  private constructor({
    network,
    lookup = () => Promise.resolve(["127.0.0.1"]),
    secrets,
    ca,
  }: TestGateOptions) {
    this.gate = new EgressGate({
      network: allowList(network),
      lookup,
      secrets,
      ca,
      onEvent: (event) => {
        this.events.push(event)
        for (const go of this.#waiting) go()
      },
    })
    this.#listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      this.gate.accept(socket),
    )
  }

  static async start(options: TestGateOptions): Promise<TestGate> {
    const gate = new TestGate(options)
    gate.#listener.listen(0, "127.0.0.1")
    await once(gate.#listener, "listening")
    return gate
  }

  /** One that lets names through to a server of the test. */
  static for(
    server: { readonly port: number },
    rule: Record<string, unknown> = {},
    host = "allowed.test",
    more: Omit<TestGateOptions, "network"> = {},
  ): Promise<TestGate> {
    return TestGate.start({
      ...more,
      network: {
        allow: [{ to: `${host}:${server.port}`, ...rule }],
        allowPrivate: [`127.0.0.1:${server.port}`],
      },
    })
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port
  }

  async connect(): Promise<TestClient> {
    const socket = connect({ port: this.port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true })
    await once(socket, "connect")
    const client = new TestClient(socket)
    this.#clients.push(client)
    return client
  }

  /** Sends the text and waits for the end of all that comes back. */
  async ask(text: string | Buffer): Promise<string> {
    return (await this.connect()).send(text).all()
  }

  /** The first event of the kind, when it is there. */
  async event(state: EgressEvent["state"], count = 1): Promise<EgressConnection> {
    for (;;) {
      const found = this.events.filter((event) => event.state === state)[count - 1]
      if (found) return found.connection
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  /** The codes of what was refused. */
  get denials(): (string | undefined)[] {
    return this.gate.records().connections.map(({ denial }) => denial?.code)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.gate.close()
    for (const { socket } of this.#clients) socket.destroy()
    this.#listener.close()
    await once(this.#listener, "close")
  }
}
