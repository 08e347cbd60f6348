import { subscribe, unsubscribe } from "node:diagnostics_channel"
import type { Socket } from "node:net"
import { describe, expect, it, vi } from "vitest"
import { dial } from "./dial.ts"
import { TestGate, TestServer, allowList } from "./egress-gate.test-kit.ts"
import { MemoryClient } from "./memory-client.test-kit.ts"

const connectTo = (port: number): string => `CONNECT allowed.test:${port} HTTP/1.1\r\n\r\n`

/** A gate whose lookup answers when the test says so. */
async function waitingGate(
  port: number,
  allowPrivate = [`127.0.0.1:${port}`],
): Promise<{ gate: TestGate; asked: Promise<void>; answer: (addresses: string[]) => void }> {
  let answer = (_addresses: string[]): void => {}
  const found = new Promise<string[]>((resolve) => (answer = resolve))
  let isAsked = (): void => {}
  const asked = new Promise<void>((resolve) => (isAsked = resolve))
  const gate = await TestGate.start({
    network: { allow: [{ to: `allowed.test:${port}`, up: 1000 }], allowPrivate },
    lookup: () => {
      isAsked()
      return found
    },
  })
  return { gate, asked, answer }
}

describe("EgressGate.records, while a connection is being decided", () => {
  it("has one from the first lookup on, which becomes a denial when it is refused", async () => {
    const { gate, asked, answer } = await waitingGate(443, ["10.0.0.1:1"])
    await using _ = gate
    const client = (await gate.connect()).send(connectTo(443))
    await asked
    const rule = "allowed.test:443 (up 1000B)"
    const [before] = gate.gate.records().connections
    expect(before).toMatchObject({ id: 1, via: "connect", host: "allowed.test", verdict: "allowed", rule })
    expect(before?.ended).toBeUndefined()
    // A call that ends now has told of it, and the next one tells of its end.
    gate.gate.forget()
    answer(["127.0.0.1"])
    await client.ended
    expect(gate.gate.records().connections).toMatchObject([
      { id: 1, verdict: "denied", denial: { code: "PRIVATE_ADDRESS" }, ended: "policy" },
    ])
    expect(gate.events.map(({ state }) => state)).toEqual(["denied"])
  })

  it("says what was dialled for a client that is refused after that", async () => {
    await using server = await TestServer.start()
    await using gate = await TestGate.for(server)
    const client = (await gate.connect()).send(connectTo(server.port))
    await client.until("established")
    expect(gate.gate.records().connections).toMatchObject([{ verdict: "allowed", address: "127.0.0.1" }])
    await client.send("\0\0").ended
    expect(await gate.event("denied")).toMatchObject({
      address: "127.0.0.1",
      denial: { code: "PROTOCOL" },
    })
    expect(gate.gate.records().connections).toHaveLength(1)
  })
})

describe("EgressGate.tighten, while a connection is being decided", () => {
  it("refuses it at once, and does not wait for the lookup", async () => {
    await using server = await TestServer.start()
    const { gate, asked } = await waitingGate(server.port)
    await using _ = gate
    const client = (await gate.connect()).send(connectTo(server.port))
    await asked
    gate.gate.tighten("none")
    expect(await client.all()).toMatch(/^HTTP\/1\.1 403 [^]*X-Glovebox-Denied: POLICY_TIGHTENED/)
    expect(gate.denials).toEqual(["POLICY_TIGHTENED"])
    expect(server.sockets).toEqual([])
  })

  it.each<[what: string, narrower: "none" | object]>([
    ["nothing", "none"],
    ["no private address", { allow: ["allowed.test:PORT"], allowPrivate: ["10.0.0.1:1"] }],
  ])("ends one that was made and not used yet, when the list allows %s", async (_what, narrower) => {
    await using server = await TestServer.start()
    await using gate = await TestGate.for(server)
    const client = (await gate.connect()).send(connectTo(server.port))
    await client.until("established")
    const text = JSON.stringify(narrower).replaceAll("PORT", String(server.port))
    const list = JSON.parse(text) as "none" | Parameters<typeof allowList>[0]
    gate.gate.tighten(list === "none" ? list : allowList(list))
    await client.ended
    expect(gate.denials).toEqual(["POLICY_TIGHTENED"])
    await vi.waitFor(() => expect(server.sockets[0]?.destroyed).toBe(true), { interval: 1 })
  })

  it("does not dial for a rule that was used up meanwhile", async () => {
    await using server = await TestServer.start()
    let answer = (_addresses: string[]): void => {}
    const found = new Promise<string[]>((resolve) => (answer = resolve))
    const to = `*.cdn.test:${server.port}`
    await using gate = await TestGate.start({
      network: { allow: [{ to, protocol: "tcp", up: 5 }], allowPrivate: [`127.0.0.1:${server.port}`] },
      lookup: (host) => (host === "slow.cdn.test" ? found : Promise.resolve(["127.0.0.1"])),
    })
    const ask = (host: string): string => `CONNECT ${host}.cdn.test:${server.port} HTTP/1.1\r\n\r\n`
    const slow = (await gate.connect()).send(ask("slow"))
    await vi.waitFor(() => expect(gate.gate.records().connections).toHaveLength(1), { interval: 1 })
    await (await gate.connect()).send(`${ask("fast")}123456`).ended
    answer(["127.0.0.1"])
    expect(await slow.all()).toContain("X-Glovebox-Denied: BUDGET")
    expect(server.sockets).toHaveLength(1)
  })
})

describe("dial", () => {
  it("gives no connection that came in the moment of the abort, and resets it", async () => {
    await using server = await TestServer.start()
    const leave = new AbortController()
    const sockets: Socket[] = []
    const onSocket = (message: unknown): void => {
      const { socket } = message as { socket: Socket }
      sockets.push(socket)
      socket.prependListener("connect", () => leave.abort(new Error("left")))
    }
    subscribe("net.client.socket", onSocket)
    try {
      const { port } = server
      const { signal } = leave
      const dialled = dial({ addresses: ["127.0.0.1"], port, asked: "", rule: "", signal })
      await expect(dialled).rejects.toThrow("left")
    } finally {
      unsubscribe("net.client.socket", onSocket)
    }
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true])
  })
})

describe("EgressGate.accept, far beyond the limit", () => {
  it("does nothing with a connection but end it", async () => {
    await using gate = await TestGate.start({ network: { allow: ["allowed.test:443"], connections: 1 } })
    const accept = (): MemoryClient => {
      const client = new MemoryClient([])
      gate.gate.accept(client)
      return client
    }
    const taken = [accept(), accept()]
    const over = [accept(), accept()]
    expect(taken.map(({ destroyed }) => destroyed)).toEqual([false, false])
    expect(over.map(({ destroyed }) => destroyed)).toEqual([true, true])
    // Nothing listens to it that would have to be made and kept.
    expect(over.map((client) => client.listenerCount("readable"))).toEqual([0, 0])
    expect(gate.denials).toEqual(["TOO_MANY_CONNECTIONS", "TOO_MANY_CONNECTIONS"])
    const [first, second] = gate.gate.records().connections
    expect(first?.denial).toBe(second?.denial)
  })
})
