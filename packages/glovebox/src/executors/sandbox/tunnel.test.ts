import type { Duplex } from "node:stream"
import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { Tunnel } from "./tunnel.ts"

interface Sent {
  readonly id: number
  readonly operation: string
  readonly data: Buffer
}

/** A tunnel and the agent's side of it. */
function tunnel(): {
  tunnel: Tunnel
  sent: Sent[]
  clients: Duplex[]
  say: (id: number, operation: string, data?: Buffer) => void
} {
  const sent: Sent[] = []
  const clients: Duplex[] = []
  const made = new Tunnel({
    accept: (client) => clients.push(client),
    write: (parts) => {
      const payload = Buffer.concat(parts).subarray(5)
      sent.push({
        id: payload.readUInt32BE(0),
        operation: String.fromCharCode(payload[4]!),
        data: payload.subarray(5),
      })
      return undefined
    },
  })
  const say = (id: number, operation: string, data: Buffer = Buffer.alloc(0)): void => {
    const header = Buffer.alloc(5)
    header.writeUInt32BE(id)
    header.write(operation, 4, "latin1")
    made.onFrame(Buffer.concat([header, data]))
  }
  return { tunnel: made, sent, clients, say }
}

function credit(bytes: number): Buffer {
  const data = Buffer.alloc(4)
  data.writeUInt32BE(bytes)
  return data
}

const bytesOf = (sent: readonly Sent[]): number =>
  sent.filter(({ operation }) => operation === "d").reduce((sum, { data }) => sum + data.length, 0)

async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

describe("Tunnel", () => {
  it("carries both directions, and the end of each", async () => {
    const { say, sent, clients } = tunnel()
    say(1, "o")
    await turn()
    say(1, "d", Buffer.from("to the "))
    say(1, "d", Buffer.from("server"))
    say(1, "e")
    const [client] = clients
    const heard: Buffer[] = []
    client!.on("data", (bytes: Buffer) => heard.push(bytes))
    await new Promise((resolve) => client!.on("end", resolve))
    expect(Buffer.concat(heard).toString()).toBe("to the server")
    client!.end("to the program")
    await turn()
    expect(sent.map(({ operation, data }) => `${operation} ${data.toString()}`)).toEqual([
      "d to the program",
      "e ",
    ])
  })

  it("sends no more than the window until the program has read", async () => {
    const { say, sent, clients } = tunnel()
    say(1, "o")
    await turn()
    clients[0]!.write(Buffer.alloc(1024 ** 2))
    await turn()
    expect(bytesOf(sent)).toBe(256 * 1024)
    say(1, "w", credit(100_000))
    await turn()
    expect(bytesOf(sent)).toBe(256 * 1024 + 100_000)
  })

  it("lets the program send more only as it is read here", async () => {
    const { say, sent, clients } = tunnel()
    say(1, "o")
    await turn()
    for (let at = 0; at < 4; at += 1) say(1, "d", Buffer.alloc(64 * 1024))
    await turn()
    const granted = (): number =>
      sent
        .filter(({ operation }) => operation === "w")
        .reduce((sum, { data }) => sum + data.readUInt32BE(0), 0)
    const before = granted()
    expect(before).toBeLessThan(256 * 1024)
    clients[0]!.resume()
    await turn()
    await turn()
    expect(granted()).toBe(256 * 1024)
  })

  it("tells when a connection is given up, and drops what was on its way", async () => {
    const { say, sent, clients } = tunnel()
    say(1, "o")
    await turn()
    clients[0]!.destroy(new Error("denied"))
    await turn()
    say(1, "d", Buffer.from("late"))
    say(1, "e")
    say(1, "w", credit(1))
    expect(sent.map(({ operation }) => operation)).toEqual(["r"])
  })

  it("ends its side when the program's is gone, while it writes or not", async () => {
    const { say, sent, clients } = tunnel()
    say(1, "o")
    await turn()
    clients[0]!.write(Buffer.alloc(1024 ** 2))
    const closed = new Promise((resolve) => clients[0]!.on("close", resolve))
    say(1, "r")
    await closed
    expect(sent.some(({ operation }) => operation === "r")).toBe(false)
  })

  it("ends all when it is closed, also those that come later", async () => {
    const { tunnel: made, say, clients } = tunnel()
    say(1, "o")
    await turn()
    made.close()
    say(2, "o")
    await turn()
    expect(clients.map(({ destroyed }) => destroyed)).toEqual([true])
  })

  it("takes a few connections in a turn, and none that is gone before its own", async () => {
    const { say, clients } = tunnel()
    for (let id = 1; id <= 1000; id += 1) say(id, "o")
    for (let id = 2; id <= 1000; id += 2) say(id, "r")
    await turn()
    expect(clients.length).toBeLessThanOrEqual(64)
    while (clients.length < 500) await turn()
    await turn()
    expect(clients.length).toBe(500)
  })

  it("counts a connection that it gave up until the agent has said so too", async () => {
    const { say, clients } = tunnel()
    for (let id = 1; id <= 4096; id += 1) {
      say(id, "o")
      say(id, "d", Buffer.from("x"))
      clients.at(-1)!.destroy()
    }
    await turn()
    expect(() => say(4097, "o")).toThrow(/more connections/)
    say(1, "r")
    say(4097, "o")
  })

  it.each<[string, (say: ReturnType<typeof tunnel>["say"], made: Tunnel) => void]>([
    ["a frame without a number", (_say, made) => made.onFrame(Buffer.alloc(4))],
    ["a part of a connection that was never made", (say) => say(7, "d", Buffer.from("x"))],
    ["a connection with the number of another", (say) => [1, 1].forEach((id) => say(id, "o"))],
    ["a connection that leaves out numbers", (say) => say(2, "o")],
    ["an unknown operation", (say) => [say(1, "o"), say(1, "?")]],
    ["a window without its size", (say) => [say(1, "o"), say(1, "w", Buffer.alloc(3))]],
    ["a window beyond all bounds", (say) => [say(1, "o"), say(1, "w", credit(2 ** 31))]],
    [
      "more than the window",
      (say) => [say(1, "o"), ...Array.from({ length: 9 }, () => say(1, "d", Buffer.alloc(60 * 1024)))],
    ],
    ["bytes after the end", (say) => [say(1, "o"), say(1, "e"), say(1, "d", Buffer.from("x"))]],
    ["connections without end", (say) => Array.from({ length: 5000 }, (_, at) => say(at + 1, "o"))],
  ])("takes %s for tampering", async (_name, attack) => {
    const { tunnel: made, say } = tunnel()
    await expectFailure(new Promise((resolve) => resolve(attack(say, made))), "SANDBOX_BROKEN")
  })
})
