import { once } from "node:events"
import { type AddressInfo, type Server, type Socket, connect, createServer } from "node:net"
import { type TlsOptions, createServer as createTlsServer } from "node:tls"

const SOCKET = "/var/run/docker.sock"

/** A way over TCP to this machine's engine, which a test can cut. */
export class EngineGate implements AsyncDisposable {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #isCut = false
  /** Sees what is asked of the engine before the engine does. */
  onRequest: (text: string) => void = () => {}

  private constructor(tls: TlsOptions | undefined) {
    const onConnection = (socket: Socket): void => this.#passOn(socket)
    this.#server = tls
      ? createTlsServer({ ...tls, allowHalfOpen: true }, onConnection)
      : createServer({ allowHalfOpen: true }, onConnection)
    this.#server.on("connection", (socket: Socket) => this.#hold(socket))
    this.#server.on("tlsClientError", (_error: Error, socket: Socket) => socket.destroy())
  }

  static async open(tls?: TlsOptions): Promise<EngineGate> {
    const gate = new EngineGate(tls)
    gate.#server.listen(0, "127.0.0.1")
    await once(gate.#server, "listening")
    return gate
  }

  get address(): string {
    return `tcp://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Ends all connections, and every new one at once. */
  cut(): void {
    this.#isCut = true
    for (const socket of this.#sockets) socket.destroy()
  }

  mend(): void {
    this.#isCut = false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, "close")
  }

  #hold(socket: Socket): void {
    if (this.#isCut) return void socket.destroy()
    this.#sockets.add(socket)
    socket.on("close", () => this.#sockets.delete(socket))
    socket.on("error", () => socket.destroy())
  }

  #passOn(socket: Socket): void {
    const engine = connect({ path: SOCKET, allowHalfOpen: true })
    socket.on("error", () => engine.destroy())
    engine.on("error", () => socket.destroy())
    socket.on("close", () => engine.destroy())
    socket.on("data", (chunk: Buffer) => {
      this.onRequest(chunk.toString("latin1"))
      if (!this.#isCut) engine.write(chunk)
    })
    socket.on("end", () => engine.end())
    engine.pipe(socket)
  }
}
