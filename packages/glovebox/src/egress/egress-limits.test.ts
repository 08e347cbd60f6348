import { afterEach, describe, expect, it, vi } from "vitest"
import { type TestClient, TestGate, TestServer, allowList } from "./egress-gate.test-kit.ts"
import { EgressLog } from "./egress-log.ts"
import { MemoryClient } from "./memory-client.test-kit.ts"

afterEach(() => {
  vi.useRealTimers()
})

/** Timers that only the test moves; sockets go on as they do. */
function stopTimers(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
}

const connectTo = (port: number, host = "allowed.test"): string => `CONNECT ${host}:${port} HTTP/1.1\r\n\r\n`

async function opened(gate: TestGate, port: number): Promise<TestClient> {
  const client = (await gate.connect()).send(connectTo(port))
  await client.until("established\r\n\r\n")
  return client
}

describe("EgressGate with a budget of bytes", () => {
  it("cuts at the first byte too many that goes up, and allows no more after that", async () => {
    await using server = await TestServer.echo()
    await using gate = await TestGate.for(server, { protocol: "tcp", up: 1000 })
    const first = await opened(gate, server.port)
    await first.send("x".repeat(600)).until("x".repeat(600))
    const second = await opened(gate, server.port)
    second.send("y".repeat(401))
    await second.ended
    expect(server.received.replaceAll("x", "")).toBe("y".repeat(400))
    expect(await gate.event("closed")).toMatchObject({
      bytesUp: 400,
      ended: "budget",
      denial: { code: "BUDGET", rule: `allowed.test:${server.port} (any protocol, up 1000B)` },
    })
    // What is open may not go on either.
    await first.send("z").ended
    expect(server.received).not.toContain("z")
    expect(await gate.ask(connectTo(server.port))).toContain("X-Glovebox-Denied: BUDGET\r\n")
  })

  it("cuts at the first byte too many that comes down", async () => {
    await using server = await TestServer.start((socket) => void socket.end("d".repeat(2000)))
    await using gate = await TestGate.for(server, { protocol: "tcp", down: "1KiB" })
    const client = (await gate.connect()).send(connectTo(server.port))
    const all = await client.all()
    expect(all.slice(all.indexOf("\r\n\r\n") + 4)).toBe("d".repeat(1024))
    expect(await gate.event("closed")).toMatchObject({ bytesDown: 1024, ended: "budget" })
  })

  it("counts requests of plain HTTP with their heads", async () => {
    await using server = await TestServer.http()
    await using gate = await TestGate.for(server, { up: 200 })
    const authority = `allowed.test:${server.port}`
    const ask = `POST http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\nContent-Length: 500\r\n\r\n${"b".repeat(500)}`
    await gate.ask(ask)
    expect(server.received).toHaveLength(200)
    expect(await gate.ask(ask)).toContain("X-Glovebox-Denied: BUDGET")
  })

  it("does not forget what was used when the policy is tightened", async () => {
    await using server = await TestServer.echo()
    await using gate = await TestGate.for(server, { protocol: "tcp" }, "*.cdn.test")
    const client = (await gate.connect()).send(connectTo(server.port, "a.cdn.test"))
    await client.until("established\r\n\r\n")
    await client.send("x".repeat(600)).until("x".repeat(600))
    gate.gate.tighten(
      allowList({
        allow: [{ to: `a.cdn.test:${server.port}`, protocol: "tcp", up: 700 }],
        allowPrivate: [`127.0.0.1:${server.port}`],
      }),
    )
    client.send("y".repeat(101))
    await client.ended
    expect(await gate.event("closed")).toMatchObject({ bytesUp: 700, ended: "budget" })
  })
})

describe("EgressGate with a limit of connections", () => {
  it("refuses those beyond it, also while others are being decided, until one ends", async () => {
    await using server = await TestServer.echo()
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    await using gate = await TestGate.start({
      network: {
        allow: [{ to: `allowed.test:${server.port}`, protocol: "tcp" }],
        allowPrivate: [`127.0.0.1:${server.port}`],
        connections: 2,
      },
      lookup: async () => {
        await held
        return ["127.0.0.1"]
      },
    })
    const clients = [await gate.connect(), await gate.connect()]
    for (const client of clients) client.send(connectTo(server.port))
    const answer = await gate.ask(connectTo(server.port))
    expect(answer).toMatch(
      /^HTTP\/1\.1 503 Refused by Glovebox: 2 connections are open, and no more may be\r\n/,
    )
    expect(gate.denials).toEqual([undefined, undefined, "TOO_MANY_CONNECTIONS"])
    release()
    for (const client of clients) await client.until("established")
    clients[0]?.socket.destroy()
    await gate.event("closed")
    await opened(gate, server.port)
  })

  it("ends those far beyond it at once", async () => {
    await using gate = await TestGate.start({ network: { allow: ["allowed.test:443"], connections: 1 } })
    const silent = [await gate.connect(), await gate.connect()]
    const client = await gate.connect()
    await client.ended
    expect(gate.denials).toEqual(["TOO_MANY_CONNECTIONS"])
    expect(silent.map(({ socket }) => socket.destroyed)).toEqual([false, false])
  })
})

describe("EgressGate and time", () => {
  it("ends a connection on which nothing moves", async () => {
    await using server = await TestServer.echo()
    await using gate = await TestGate.start({
      network: {
        allow: [{ to: `allowed.test:${server.port}`, protocol: "tcp" }],
        allowPrivate: [`127.0.0.1:${server.port}`],
        idle: "30s",
      },
    })
    stopTimers()
    const client = await opened(gate, server.port)
    vi.advanceTimersByTime(20_000)
    await client.send("still here").until("still here")
    vi.advanceTimersByTime(29_000)
    await client.send("and here").until("and here")
    vi.advanceTimersByTime(30_000)
    await client.ended
    expect(await gate.event("closed")).toMatchObject({ ended: "idle", denial: { code: "IDLE" } })
  })

  it.each([
    ["says nothing", ""],
    ["sends a head too slowly", "CONNECT allowed.test:443 HTTP/1.1\r\nX: "],
  ])("ends a client that %s", async (_what, text) => {
    await using gate = await TestGate.start({ network: { allow: ["allowed.test:443"] } })
    stopTimers()
    const client = await gate.connect()
    if (text !== "") await dripped(client, text)
    vi.advanceTimersByTime(10_000)
    const answer = await client.all()
    expect(answer).toMatch(text === "" ? /^$/ : /^HTTP\/1\.1 408 /)
    expect(gate.denials).toEqual(["HEADER_TIMEOUT"])
  })

  it("ends a client that does not begin to speak in a connection, and says what to ask for", async () => {
    await using server = await TestServer.start((socket) => void socket.write("220 I speak first\r\n"))
    await using gate = await TestGate.for(server)
    stopTimers()
    const client = await opened(gate, server.port)
    vi.advanceTimersByTime(10_000)
    expect(await client.all()).not.toContain("220")
    expect(await gate.event("denied")).toMatchObject({
      denial: { code: "HEADER_TIMEOUT", suggestion: expect.stringContaining("protocol: tcp") as string },
      ended: "idle",
    })
  })

  it("gives up a resolver that does not answer", async () => {
    let signal: AbortSignal | undefined
    await using gate = await TestGate.start({
      network: { allow: ["allowed.test:443"] },
      lookup: (_host, options) => {
        signal = options.signal
        return new Promise(() => {})
      },
    })
    stopTimers()
    const client = (await gate.connect()).send(connectTo(443))
    await vi.waitUntil(() => signal)
    vi.advanceTimersByTime(10_000)
    expect(await client.all()).toMatch(
      /^HTTP\/1\.1 504 Not reached by Glovebox: The address of allowed\.test/,
    )
    expect(signal?.aborted).toBe(true)
  })

  it("lets a refused client that is still sending have its answer", async () => {
    await using gate = await TestGate.start({ network: { allow: ["allowed.test:443"] } })
    const head = "POST http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\nContent-Length: 3000000\r\n\r\n"
    const body = Array.from({ length: 30 }, () => Buffer.alloc(100_000))
    const client = new MemoryClient([Buffer.from(head), ...body, null])
    gate.gate.accept(client)
    await client.gone
    expect(client.received).toContain("X-Glovebox-Denied: NOT_ALLOWED")
    // Had it not been read to its end, a reset could have overtaken the answer.
    expect(client.left).toBe(0)
  })

  it("ends a refused client that does not take its answer", async () => {
    await using gate = await TestGate.start({ network: { allow: ["allowed.test:443"] } })
    stopTimers()
    const client = (await gate.connect()).send(connectTo(443, "evil.test"))
    client.socket.removeAllListeners("end")
    await client.until("Do without evil.test")
    client.send("x".repeat(100_000))
    vi.advanceTimersByTime(2000)
    // Its end is all that is left: a write fails.
    while (!client.socket.destroyed) {
      client.send("x")
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(gate.denials).toEqual(["NOT_ALLOWED"])
  })

  async function dripped(client: TestClient, text: string): Promise<void> {
    for (const character of text) {
      client.send(character)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
})

describe("EgressGate.tighten", () => {
  it("closes what the new list does not allow, and leaves the rest open", async () => {
    await using server = await TestServer.echo()
    const rule = (host: string): object => ({ to: `${host}:${server.port}`, protocol: "tcp" })
    const allowPrivate = [`127.0.0.1:${server.port}`]
    await using gate = await TestGate.start({
      network: { allow: [rule("a.test"), rule("b.test")] as never, allowPrivate },
    })
    const open = async (host: string): Promise<TestClient> => {
      const client = (await gate.connect()).send(connectTo(server.port, host))
      await client.until("established")
      return client
    }
    const [a, b] = [await open("a.test"), await open("b.test")]
    gate.gate.tighten(allowList({ allow: [rule("b.test")] as never, allowPrivate }))
    await a.ended
    expect(await gate.event("closed")).toMatchObject({
      host: "a.test",
      ended: "policy",
      denial: { code: "POLICY_TIGHTENED" },
    })
    await b.send("still").until("still")
    expect(await gate.ask(connectTo(server.port, "a.test"))).toContain("Denied: NOT_ALLOWED")
    gate.gate.tighten("none")
    await b.ended
    expect(await gate.ask(connectTo(server.port, "b.test"))).toContain("Denied: NOT_ALLOWED")
  })

  it.each<[what: string, narrower: object]>([
    ["only TLS and HTTP", { allow: ["allowed.test:PORT"] }],
    ["only methods", { allow: [{ to: "allowed.test:PORT", methods: ["GET"] }] }],
    [
      "no private address",
      { allow: [{ to: "allowed.test:PORT", protocol: "tcp" }], allowPrivate: ["10.0.0.1:1"] },
    ],
  ])("closes a raw connection when the list allows %s", async (_what, narrower) => {
    await using server = await TestServer.echo()
    await using gate = await TestGate.for(server, { protocol: "tcp" })
    const client = await opened(gate, server.port)
    gate.gate.tighten(
      allowList(JSON.parse(JSON.stringify(narrower).replaceAll("PORT", String(server.port))) as never),
    )
    await client.ended
    expect(await gate.event("closed")).toMatchObject({ ended: "policy" })
  })

  it("holds for a connection that is being decided", async () => {
    await using server = await TestServer.echo()
    let release = (_addresses: string[]): void => {}
    const found = new Promise<string[]>((resolve) => (release = resolve))
    let isAsked = (): void => {}
    const asked = new Promise<void>((resolve) => (isAsked = resolve))
    await using gate = await TestGate.start({
      network: { allow: [`allowed.test:${server.port}`], allowPrivate: [`127.0.0.1:${server.port}`] },
      lookup: () => {
        isAsked()
        return found
      },
    })
    const client = (await gate.connect()).send(connectTo(server.port))
    await asked
    gate.gate.tighten("none")
    release(["127.0.0.1"])
    expect(await client.all()).toMatch(/^HTTP\/1\.1 403 /)
    expect(server.sockets).toEqual([])
  })

  it("looks at the method and path of an open request again", async () => {
    await using server = await TestServer.start()
    const to = `allowed.test:${server.port}`
    const allowPrivate = [`127.0.0.1:${server.port}`]
    await using gate = await TestGate.start({ network: { allow: [to], allowPrivate } })
    const get = (path: string): string => `GET http://${to}${path} HTTP/1.1\r\nHost: ${to}\r\n\r\n`
    const [kept, cut] = [await gate.connect(), await gate.connect()]
    kept.send(get("/kept/1"))
    await gate.event("opened", 1)
    cut.send(get("/cut/1"))
    await gate.event("opened", 2)
    gate.gate.tighten(allowList({ allow: [{ to, methods: ["GET"], paths: ["/kept/"] }], allowPrivate }))
    await cut.ended
    expect(gate.gate.records().connections).toMatchObject([
      { path: "/kept/1", rule: `${to} (GET, "/kept/")` },
      { path: "/cut/1", ended: "policy" },
    ])
    expect(kept.socket.destroyed).toBe(false)
  })
})

describe("EgressGate.close", () => {
  it("ends everything, in each state, and takes no more", async () => {
    await using server = await TestServer.echo()
    await using gate = await TestGate.start({
      network: {
        allow: [`allowed.test:${server.port}`, `slow.test:${server.port}`],
        allowPrivate: [`127.0.0.1:${server.port}`],
      },
      lookup: (host) => (host === "slow.test" ? new Promise(() => {}) : Promise.resolve(["127.0.0.1"])),
    })
    const silent = await gate.connect()
    const slow = (await gate.connect()).send(connectTo(server.port, "slow.test"))
    const seen = await opened(gate, server.port)
    const raw = (await gate.connect()).send(connectTo(server.port, "127.0.0.1"))
    await raw.until("established")
    const leaving = (await gate.connect()).send(connectTo(server.port, "evil.test"))
    await leaving.until("Do without")
    gate.gate.close()
    gate.gate.close()
    const late = await gate.connect()
    await Promise.all([silent, slow, seen, raw, leaving, late].map(({ ended }) => ended))
    const { connections } = gate.gate.records()
    expect(connections.map(({ host, ended }) => `${host} ${ended}`).toSorted()).toEqual([
      "127.0.0.1 closed",
      "allowed.test closed",
      "evil.test policy",
      "slow.test closed",
    ])
    expect(server.sockets.length).toBe(2)
  })
})

describe("EgressGate.records", () => {
  it("forgets those that have ended, and keeps those that are open", async () => {
    await using server = await TestServer.echo()
    await using gate = await TestGate.for(server, { protocol: "tcp" })
    const client = await opened(gate, server.port)
    await gate.ask("\x04")
    expect(gate.gate.records().connections).toHaveLength(2)
    gate.gate.forget()
    const { connections } = gate.gate.records()
    expect(connections).toMatchObject([{ id: 1, host: "allowed.test" }])
    expect(connections[0]?.ended).toBeUndefined()
    client.socket.destroy()
    await gate.event("closed")
    expect(gate.gate.records().connections).toMatchObject([{ ended: "client" }])
  })

  it("keeps the first thousand, and says when there were more", () => {
    const onEvent = vi.fn<() => void>()
    const log = new EgressLog(onEvent)
    const denial = { code: "PORT", rule: undefined, resource: "", message: "", suggestion: "" } as const
    for (let count = 0; count < 1000; count += 1)
      log.deny({ via: "connect", host: "a.test", port: count }, denial, "policy", 0)
    expect(log.records().truncated).toBe(false)
    log.deny({ via: "connect", host: "a.test", port: 1000 }, denial, "policy", 0)
    expect(log.records().truncated).toBe(true)
    expect(log.records().connections.at(-1)).toMatchObject({ id: 1000, port: 999 })
    expect(onEvent).toHaveBeenCalledTimes(1001)
    log.forget()
    expect(log.records()).toEqual({ connections: [], truncated: false })
  })

  it("says nothing of a client that leaves without a word", async () => {
    await using gate = await TestGate.start({ network: { allow: ["allowed.test:443"] } })
    const client = await gate.connect()
    client.socket.end()
    await client.all()
    expect(gate.events).toEqual([])
  })

  it("holds when whoever is told throws", async () => {
    await using gate = await TestGate.start({ network: { allow: ["allowed.test:443"] } })
    gate.events.push = () => {
      throw new Error("a listener's fault")
    }
    expect(await gate.ask(connectTo(443, "evil.test"))).toMatch(/^HTTP\/1\.1 403/)
  })
})
