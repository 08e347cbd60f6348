import { once } from "node:events"
import { Duplex, PassThrough } from "node:stream"
import { connect } from "node:tls"
import { describe, expect, it } from "vitest"
import { readHost } from "../policy/index.ts"
import { checkHello } from "./check-hello.ts"
import { TestGate, TestServer } from "./egress-gate.test-kit.ts"
import { hello, record, sni, vector } from "./tls-hello.test-kit.ts"

/** The first bytes of Node's own TLS client. */
async function helloOf(servername: string): Promise<Buffer> {
  const sent = new PassThrough()
  const wire = Duplex.from({ readable: new PassThrough(), writable: sent })
  const client = connect({ socket: wire, servername, ALPNProtocols: ["h2", "http/1.1"] })
  client.on("error", () => {})
  const [bytes] = (await once(sent, "data")) as [Buffer]
  client.destroy()
  wire.destroy()
  return bytes
}

const ALERT = "\x15\x03\x03\x00\x02\x02\x70"
const open = (gate: TestGate, port: number, bytes: Buffer, host = "allowed.test"): Promise<string> =>
  gate.ask(Buffer.concat([Buffer.from(`CONNECT ${host}:${port} HTTP/1.1\r\n\r\n`), bytes]))
const ESTABLISHED = "HTTP/1.1 200 Connection established\r\n\r\n"

describe("EgressGate, sent TLS", () => {
  it("passes a ClientHello for the same name, byte for byte, and all after it", async () => {
    await using server = await TestServer.echo()
    await using gate = await TestGate.for(server)
    const bytes = await helloOf("Allowed.Test")
    const client = await gate.connect()
    client.send(`CONNECT allowed.test:${server.port} HTTP/1.1\r\n\r\n`)
    await client.until(ESTABLISHED)
    client.send(bytes)
    await client.until(bytes.toString("latin1"))
    await client.send("more").until("more")
    expect(server.received).toBe(`${bytes.toString("latin1")}more`)
    expect(gate.gate.records().connections).toMatchObject([
      { verdict: "allowed", rule: `allowed.test:${server.port}` },
    ])
  })

  it("reads it from several records, and byte by byte", async () => {
    await using server = await TestServer.echo()
    await using gate = await TestGate.for(server)
    const message = hello([sni("allowed.test")]).subarray(5)
    const bytes = Buffer.concat([
      record(message.subarray(0, 2)),
      record(message.subarray(2, 50)),
      record(message.subarray(50)),
    ])
    const client = await gate.connect()
    client.send(`CONNECT allowed.test:${server.port} HTTP/1.1\r\n\r\n`)
    await client.until(ESTABLISHED)
    for (const byte of bytes) {
      client.send(Buffer.from([byte]))
      await new Promise((resolve) => setImmediate(resolve))
    }
    await client.until(bytes.toString("latin1"))
    expect(gate.denials).toEqual([undefined])
  })

  const long = (length: number): readonly [number, Buffer] => [21, Buffer.alloc(length)]
  it.each<[what: string, bytes: Buffer, code: string]>([
    ["another name", hello([sni("evil.test")]), "TLS_WRONG_NAME"],
    ["a longer name", hello([sni("allowed.test.evil.test")]), "TLS_WRONG_NAME"],
    ["a name with a dot at its end", hello([sni("allowed.test.")]), "TLS_WRONG_NAME"],
    ["a name with a NUL", hello([sni("allowed.test\0.evil.test")]), "TLS_WRONG_NAME"],
    ["two names", hello([sni("allowed.test", "evil.test")]), "TLS_WRONG_NAME"],
    ["an empty list of names", hello([sni()]), "TLS_WRONG_NAME"],
    ["an address as its name", hello([sni("127.0.0.1")]), "TLS_WRONG_NAME"],
    ["no name", hello([[16, Buffer.from("\0\x03\x02h2")]]), "TLS_NO_SNI"],
    ["an encrypted ClientHello", hello([sni("allowed.test"), [0xfe0d, Buffer.alloc(9)]]), "TLS_HIDDEN"],
    ["an encrypted name", hello([sni("allowed.test"), [0xffce, Buffer.alloc(9)]]), "TLS_HIDDEN"],
    ["the extension twice", hello([sni("allowed.test"), sni("evil.test")]), "PROTOCOL"],
    ["another type of name", hello([[0, vector(Buffer.from([1, 0, 1, 97]), 2)]]), "PROTOCOL"],
    [
      "bytes after its names",
      hello([[0, Buffer.concat([sni("allowed.test")[1], Buffer.from([0])])]]),
      "PROTOCOL",
    ],
    ["another message", record(Buffer.from([2, 0, 0, 1, 0])), "PROTOCOL"],
    ["an empty record", record(Buffer.alloc(0)), "PROTOCOL"],
    ["a record that is too long", Buffer.from([22, 3, 1, 0xff, 0xff]), "PROTOCOL"],
    ["another version", Buffer.from([22, 9, 1, 0, 1]), "PROTOCOL"],
    ["a message that is too long", record(Buffer.from([1, 1, 0, 0])), "PROTOCOL"],
    [
      "another record in between",
      Buffer.concat([record(hello([]).subarray(5, 20)), Buffer.from([23, 3, 3, 0, 1])]),
      "PROTOCOL",
    ],
    [
      "a second message behind it",
      record(Buffer.concat([hello([sni("allowed.test")]).subarray(5), Buffer.from([1])])),
      "PROTOCOL",
    ],
    [
      "hundreds of records",
      Buffer.concat(Array.from(hello([long(400)]).subarray(5), (byte) => record(Buffer.from([byte])))),
      "PROTOCOL",
    ],
  ])("refuses a ClientHello with %s, with an alert, and passes none of it", async (_what, bytes, code) => {
    await using server = await TestServer.start()
    await using gate = await TestGate.for(server)
    const answer = (await open(gate, server.port, bytes)).slice(ESTABLISHED.length)
    expect(gate.denials).toEqual([code])
    expect(answer).toBe(code.endsWith("NAME") || code.endsWith("SNI") ? ALERT : `${ALERT.slice(0, -1)}\x31`)
    expect(server.received).toBe("")
  })

  it("refuses one that is cut off", async () => {
    await using server = await TestServer.start()
    await using gate = await TestGate.for(server)
    const client = await gate.connect()
    client.send(`CONNECT allowed.test:${server.port} HTTP/1.1\r\n\r\n`)
    await client.until(ESTABLISHED)
    client.send(hello([sni("allowed.test")]).subarray(0, 60)).socket.end()
    await client.all()
    expect(gate.denials).toEqual(["PROTOCOL"])
    expect(server.received).toBe("")
  })

  it("refuses TLS where methods or paths are to be seen", async () => {
    await using server = await TestServer.start()
    await using gate = await TestGate.for(server, { methods: ["GET"] })
    await open(gate, server.port, hello([sni("allowed.test")]))
    expect(gate.gate.records().connections).toMatchObject([{ denial: { code: "TLS_HIDDEN" } }])
    expect(server.received).toBe("")
  })

  it("wants no name for an address", () => {
    const check = (address: string, names: readonly string[] | undefined): void => {
      const read = readHost(address)
      if ("host" in read) checkHello({ names, isEncrypted: false }, read.host, 443, "a rule")
    }
    expect(() => check("192.0.2.1", undefined)).not.toThrow()
    expect(() => check("[2001:db8::1]", undefined)).not.toThrow()
    for (const names of [["allowed.test"], ["192.0.2.1"], []])
      expect(() => check("192.0.2.1", names)).toThrow(expect.objectContaining({ code: "TLS_WRONG_NAME" }))
  })

  it("looks at none of it by a rule of protocol tcp", async () => {
    await using server = await TestServer.echo()
    await using gate = await TestGate.for(server, { protocol: "tcp" })
    const bytes = hello([sni("evil.test")])
    const client = await gate.connect()
    client.send(`CONNECT allowed.test:${server.port} HTTP/1.1\r\n\r\n`).send(bytes)
    await client.until("evil.test")
    expect(gate.denials).toEqual([undefined])
  })
})
