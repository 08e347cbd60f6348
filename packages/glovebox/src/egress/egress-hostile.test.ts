import { Duplex } from "node:stream"
import { describe, expect, it, vi } from "vitest"
import { TestGate, TestServer, allowList } from "./egress-gate.test-kit.ts"
import { EgressGate, type EgressLookup } from "./index.ts"
import { MemoryClient } from "./memory-client.test-kit.ts"

const connectTo = (port: number): Buffer => Buffer.from(`CONNECT allowed.test:${port} HTTP/1.1\r\n\r\n`)
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe("EgressGate and clients that break off", () => {
  const WORDS: readonly (readonly [what: string, bytes: (port: number) => Buffer])[] = [
    ["nothing", () => Buffer.alloc(0)],
    ["half a head", () => Buffer.from("CONNECT allo")],
    ["half of SOCKS", () => Buffer.from([5, 1, 0, 5, 1])],
    ["a request that is refused", () => Buffer.from("CONNECT evil.test:1 HTTP/1.1\r\n\r\n")],
    ["a request", connectTo],
    ["half a hello", (port) => Buffer.concat([connectTo(port), Buffer.from([22, 3, 1, 0, 99, 1])])],
    ["half a request inside", (port) => Buffer.concat([connectTo(port), Buffer.from("GET / HT")])],
    [
      "half a body",
      (port) =>
        Buffer.from(
          `PUT http://allowed.test:${port}/ HTTP/1.1\r\nHost: allowed.test:${port}\r\nContent-Length: 9\r\n\r\nabc`,
        ),
    ],
  ]

  it.each(WORDS)("ends when one is reset, with or without an error, after %s", async (_what, bytes) => {
    await using server = await TestServer.start()
    await using gate = await TestGate.for(server)
    for (const turns of [0, 1, 2, 4, 8, 16]) {
      for (const error of [undefined, new Error("reset")]) {
        const client = new MemoryClient([bytes(server.port)])
        gate.gate.accept(client)
        for (let count = 0; count < turns; count += 1) await turn()
        client.destroy(error)
        await client.gone
      }
    }
    await vi.waitFor(
      () => {
        const { connections } = gate.gate.records()
        expect(connections.filter(({ ended }) => ended === undefined)).toEqual([])
      },
      { interval: 1 },
    )
    await vi.waitFor(
      () => {
        expect(server.sockets.filter((socket) => !socket.readableEnded && !socket.destroyed)).toEqual([])
      },
      { interval: 1 },
    )
  })

  it("stops looking for a name that nobody waits for any more", async () => {
    const lookup = vi.fn<EgressLookup>(() => new Promise(() => {}))
    await using gate = await TestGate.start({ network: { allow: ["allowed.test:443"] }, lookup })
    const client = new MemoryClient([connectTo(443)])
    gate.gate.accept(client)
    await vi.waitFor(() => expect(lookup).toHaveBeenCalled(), { interval: 1 })
    client.destroy()
    expect(await gate.event("closed")).toMatchObject({ ended: "client", address: undefined })
    expect(lookup.mock.calls[0]?.[1].signal.aborted).toBe(true)
  })

  it("ends one that was gone before it came", async () => {
    await using gate = await TestGate.start({ network: { allow: ["allowed.test:443"] } })
    const client = new MemoryClient([])
    client.destroy()
    await client.gone
    gate.gate.accept(client)
    await turn()
    expect(gate.events).toEqual([])
  })

  it("holds when a stream throws at every call", async () => {
    await using gate = await TestGate.start({ network: { allow: ["allowed.test:443"] } })
    const client = new Duplex({
      read() {
        throw new Error("read")
      },
      write() {
        throw new Error("write")
      },
    })
    gate.gate.accept(client)
    await vi.waitFor(() => expect(client.destroyed).toBe(true))
  })
})

describe("EgressGate and servers that break off", () => {
  it("cuts the client when the server is reset, so that a part is not taken for all", async () => {
    await using server = await TestServer.start((socket) => {
      socket.once("text", () => socket.write("HTTP/1.1 200 OK\r\n\r\npart"))
    })
    await using gate = await TestGate.for(server)
    const authority = `allowed.test:${server.port}`
    const client = new MemoryClient([
      Buffer.from(`GET http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\n\r\n`),
    ])
    const hasEnded = vi.fn<() => void>()
    client.once("finish", hasEnded)
    gate.gate.accept(client)
    while (!client.received.endsWith("part")) await turn()
    server.sockets[0]?.resetAndDestroy()
    await client.gone
    expect(await gate.event("closed")).toMatchObject({ ended: "error" })
    expect(hasEnded).not.toHaveBeenCalled()
  })
})

describe("EgressGate and memory", () => {
  it("does not read ahead of its decision", async () => {
    using gate = new EgressGate({
      network: allowList({ allow: ["allowed.test:443"] }),
      lookup: () => new Promise(() => {}),
      onEvent: () => {},
    })
    let sent = 0
    const client = new Duplex({
      read() {
        const piece = sent === 0 ? connectTo(443) : Buffer.alloc(16_384)
        sent += piece.length
        setImmediate(() => this.push(piece))
      },
      write(_chunk, _encoding, done) {
        done()
      },
    })
    gate.accept(client)
    for (let count = 0; count < 50; count += 1) await turn()
    expect(sent).toBeLessThan(100_000)
  })

  it("waits for a client that does not read, and for a server that does not", async () => {
    await using server = await TestServer.start((socket) => {
      socket.pause()
      const fill = (): void => {
        while (socket.write(Buffer.alloc(65_536)));
      }
      socket.on("drain", fill)
      fill()
    })
    await using gate = await TestGate.for(server, { protocol: "tcp" })
    let sent = 0
    const client = new Duplex({
      read() {
        const piece = sent === 0 ? connectTo(server.port) : Buffer.alloc(65_536)
        sent += piece.length
        setImmediate(() => this.push(piece))
      },
      // The answer is taken, and then nothing more.
      write(chunk: Buffer, _encoding, done) {
        if (chunk.includes("established")) done()
      },
    })
    gate.gate.accept(client)
    await gate.event("opened")
    let before = -1
    while (before !== sent) {
      before = sent
      for (let count = 0; count < 50; count += 1) await turn()
    }
    const [connection] = gate.gate.records().connections
    // What the kernel holds for a loopback connection is a few MiB; what the gate holds is less than one.
    expect(sent - (connection?.bytesUp ?? 0)).toBeLessThan(300_000)
    expect(connection?.bytesDown).toBeLessThan(300_000)
    expect(client.writableLength).toBeLessThan(300_000)
  })
})
