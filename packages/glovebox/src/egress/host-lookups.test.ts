import { createSocket } from "node:dgram"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, describe, expect, it, vi } from "vitest"
import { type EgressLookup, HostLookups, LateLookup } from "./host-lookups.ts"
import { machineLookup } from "./machine-lookup.ts"

const never = (): AbortSignal => new AbortController().signal
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

afterEach(() => {
  vi.useRealTimers()
})

describe("HostLookups", () => {
  it("asks for two names at a time, and holds up no other gate", async () => {
    const lookup = vi.fn<EgressLookup>((name) =>
      name === "good.test" ? Promise.resolve(["127.0.0.1"]) : new Promise(() => {}),
    )
    const [hostile, other] = [new HostLookups(lookup), new HostLookups(lookup)]
    for (let count = 0; count < 50; count += 1) hostile.find(`${count}.silent.test`, never()).catch(() => {})
    await turn()
    expect(lookup).toHaveBeenCalledTimes(2)
    expect(await other.find("good.test", never())).toEqual(["127.0.0.1"])
  })

  it("asks once for a name that several wait for, and stops when the last has left", async () => {
    const lookup = vi.fn<EgressLookup>(() => new Promise(() => {}))
    const lookups = new HostLookups(lookup)
    const [first, second] = [new AbortController(), new AbortController()]
    const waiting = [lookups.find("a.test", first.signal), lookups.find("a.test", second.signal)]
    await turn()
    expect(lookup).toHaveBeenCalledTimes(1)
    first.abort(new Error("first"))
    await expect(waiting[0]).rejects.toThrow("first")
    expect(lookup.mock.calls[0]?.[1].signal.aborted).toBe(false)
    second.abort(new Error("second"))
    await expect(waiting[1]).rejects.toThrow("second")
    expect(lookup.mock.calls[0]?.[1].signal.aborted).toBe(true)
    lookups.find("a.test", never()).catch(() => {})
    await turn()
    expect(lookup).toHaveBeenCalledTimes(2)
  })

  it("does not let those who leave have more at a time, nor keep a place for ever", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    const lookup = vi.fn<EgressLookup>(() => new Promise(() => {}))
    const lookups = new HostLookups(lookup)
    for (let count = 0; count < 10; count += 1) {
      const leave = new AbortController()
      const found = lookups.find(`${count}.test`, leave.signal)
      await turn()
      leave.abort(new Error("left"))
      await expect(found).rejects.toThrow("left")
    }
    expect(lookup).toHaveBeenCalledTimes(2)
    vi.advanceTimersByTime(10_000)
    const late = lookups.find("last.test", never())
    await turn()
    expect(lookup).toHaveBeenCalledTimes(3)
    vi.advanceTimersByTime(10_000)
    await expect(late).rejects.toThrow(LateLookup)
  })
})

describe("machineLookup", () => {
  /** A name server that says 192.0.2.1 to all names but those below silent.test, and counts who asks. */
  async function nameServer(): Promise<AsyncDisposable & { port: number; asked: string[] }> {
    const socket = createSocket("udp4")
    const asked: string[] = []
    socket.on("message", (message, { port, address }) => {
      const labels: string[] = []
      let at = 12
      for (; message[at]! > 0; at += message[at]! + 1)
        labels.push(message.toString("latin1", at + 1, at + 1 + message[at]!))
      const name = labels.join(".")
      asked.push(name)
      if (name.endsWith("silent.test")) return
      const isFour = message.readUInt16BE(at + 1) === 1
      const head = Buffer.from(message.subarray(0, 12))
      for (const [place, value] of [0x8180, 1, isFour ? 1 : 0, 0, 0].entries())
        head.writeUInt16BE(value, 2 + 2 * place)
      const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1])
      const parts = [head, message.subarray(12, at + 5), ...(isFour ? [answer] : [])]
      socket.send(Buffer.concat(parts), port, address)
    })
    socket.bind(0, "127.0.0.1")
    await once(socket, "listening")
    return {
      port: socket.address().port,
      asked,
      async [Symbol.asyncDispose]() {
        socket.close()
        await once(socket, "close")
      },
    }
  }

  it("finds a name while nobody answers for many others, which can be given up", async () => {
    await using server = await nameServer()
    const lookup = machineLookup({ hosts: "/nowhere", servers: [`127.0.0.1:${server.port}`] })
    const leave = new AbortController()
    const silent = Array.from({ length: 20 }, (_, at) =>
      lookup(`${at}.silent.test`, { signal: leave.signal }).catch((error: unknown) => error),
    )
    await vi.waitFor(() => expect(new Set(server.asked).size).toBe(20), { interval: 1 })
    expect(await lookup("good.test", { signal: never() })).toEqual(["192.0.2.1"])
    leave.abort("left")
    expect(new Set(await Promise.all(silent))).toEqual(new Set(["left"]))
  })

  it("asks nobody for a name in the hosts file, which may change", async () => {
    await using server = await nameServer()
    const folder = await mkdtemp(join(tmpdir(), "glovebox-hosts-"))
    const hosts = join(folder, "hosts")
    try {
      const lookup = machineLookup({ hosts, servers: [`127.0.0.1:${server.port}`] })
      await writeFile(hosts, "# a file\n10.0.0.1\tDB.test  db\n::1 db.test # here\n10.0.0.2 other.test\n")
      expect(await lookup("db.test", { signal: never() })).toEqual(["10.0.0.1", "::1"])
      expect(await lookup("db", { signal: never() })).toEqual(["10.0.0.1"])
      expect(server.asked).toEqual([])
      await writeFile(hosts, "10.0.0.33 db.test\n")
      expect(await lookup("db.test", { signal: never() })).toEqual(["10.0.0.33"])
      expect(await lookup("other.test", { signal: never() })).toEqual(["192.0.2.1"])
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it("asks this machine for a name without a dot", async () => {
    const lookup = machineLookup({ hosts: "/nowhere", servers: ["127.0.0.1:9"] })
    const found = await lookup("localhost", { signal: never() })
    expect(["127.0.0.1", "::1"]).toContain(found[0])
  })
})
