import { type AddressInfo, type Socket, connect, createServer } from "node:net"

/** A way to a port that a test can cut, close and open again. */
export interface TcpGate extends AsyncDisposable {
  readonly address: string
  /** Ends the connections there are. */
  cut(): void
  /** Ends the connections there are, and lets no new ones through. */
  close(): void
  open(): void
  /** Keeps connections but lets nothing through, as when a cable is pulled. */
  freeze(): void
}

export async function tcpGate(target: string): Promise<TcpGate> {
  const [host = "", port = ""] = target.split(":")
  const sockets = new Set<Socket>()
  let isOpen = true
  // Without a delay of its own.
  const server = createServer({ noDelay: true }, (inner) => {
    if (!isOpen) {
      inner.destroy()
      return
    }
    const outer = connect({ port: Number(port), host, noDelay: true })
    for (const [one, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(one)
      one.on("error", () => {})
      one.on("close", () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve)
  })
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    close: () => {
      isOpen = false
      cut()
    },
    open: () => {
      isOpen = true
    },
    freeze: () => {
      for (const socket of sockets) {
        socket.unpipe()
        socket.pause()
      }
    },
    [Symbol.asyncDispose]: async () => {
      cut()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
