import { describe, expect, it, vi } from "vitest"
import { TestGate, TestServer } from "./egress-gate.test-kit.ts"

const connectTo = (authority: string): string => `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`

describe("EgressGate, asked by CONNECT", () => {
  it("makes the connection, passes bytes both ways, and tells of it", async () => {
    await using server = await TestServer.echo()
    await using gate = await TestGate.for(server, { protocol: "tcp" })
    const client = (await gate.connect()).send(connectTo(`Allowed.TEST:${server.port}`))
    await client.until("200 Connection established\r\n\r\n")
    client.send("hello")
    await client.until("hello")
    expect(gate.gate.records().connections).toMatchObject([{ bytesUp: 5, bytesDown: 5 }])
    client.socket.end()
    await client.ended
    expect(await gate.event("closed")).toEqual({
      id: 1,
      via: "connect",
      host: "allowed.test",
      port: server.port,
      verdict: "allowed",
      rule: `allowed.test:${server.port} (any protocol)`,
      address: "127.0.0.1",
      bytesUp: 5,
      bytesDown: 5,
      durationMs: expect.any(Number) as number,
      ended: "client",
    })
    expect(gate.events.map(({ state }) => state)).toEqual(["opened", "closed"])
  })

  it("takes what a client sends before the answer, in pieces of any size", async () => {
    await using server = await TestServer.echo()
    await using gate = await TestGate.for(server, { protocol: "tcp" })
    const client = await gate.connect()
    for (const byte of `${connectTo(`allowed.test:${server.port}`)}early`) {
      client.send(byte)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await client.until("early")).toBe("HTTP/1.1 200 Connection established\r\n\r\nearly")
  })

  it("does not say yes before the server is there", async () => {
    await using gone = await TestServer.start()
    const { port } = gone
    await gone[Symbol.asyncDispose]().catch(() => {})
    await using gate = await TestGate.start({ network: { allowPrivate: [`127.0.0.1:${port}`] } })
    const answer = await gate.ask(connectTo(`127.0.0.1:${port}`))
    expect(answer).toMatch(/^HTTP\/1\.1 502 Not reached by Glovebox: .*ECONNREFUSED/)
    expect(await gate.event("denied")).toMatchObject({ denial: { code: "CONNECT_FAILED" }, ended: "error" })
  })

  it("refuses with a message to act on, in the status line and in the body", async () => {
    await using gate = await TestGate.start({ network: { allow: ["good.test:443"] } })
    const answer = await gate.ask(connectTo("evil.test:443"))
    expect(answer).toMatch(/^HTTP\/1\.1 403 Denied by Glovebox: evil\.test:443 is not in network\.allow\r\n/)
    expect(answer).toContain("X-Glovebox-Denied: NOT_ALLOWED\r\n")
    expect(answer).toContain("Connection: close\r\n")
    expect(answer).toContain(
      '\nDo without evil.test, or ask for "evil.test:443" to be added to network.allow.\n',
    )
    expect(await gate.event("denied")).toEqual({
      id: 1,
      via: "connect",
      host: "evil.test",
      port: 443,
      verdict: "denied",
      denial: {
        code: "NOT_ALLOWED",
        rule: undefined,
        resource: "evil.test:443",
        message: "evil.test:443 is not in network.allow.",
        suggestion: 'Do without evil.test, or ask for "evil.test:443" to be added to network.allow.',
      },
      bytesUp: 0,
      bytesDown: 0,
      durationMs: expect.any(Number) as number,
      ended: "policy",
    })
  })

  it.each<[authority: string, code: string]>([
    ["good.test:22", "PORT"],
    ["sub.cdn.test:80", "PORT"],
    ["good.test.evil.test:443", "NOT_ALLOWED"],
    ["xgood.test:443", "NOT_ALLOWED"],
    ["good.test-evil.test:443", "NOT_ALLOWED"],
    ["test:443", "NOT_ALLOWED"],
    ["cdn.test:443", "NOT_ALLOWED"],
    ["a.b.cdn.test:443", "NOT_ALLOWED"],
    ["xn--80ak6aa92e.test:443", "NOT_ALLOWED"],
    ["evil.test\0.good.test:443", "BAD_REQUEST"],
    ["evil.test%00.good.test:443", "BAD_HOST"],
    ["good.test.:443", "BAD_HOST"],
    [".good.test:443", "BAD_HOST"],
    ["good..test:443", "BAD_HOST"],
    ["good_x.test:443", "BAD_HOST"],
    ["good.test@evil.test:443", "BAD_HOST"],
    ["good.test:443@evil.test:443", "BAD_HOST"],
    ["evil.test#good.test:443", "BAD_HOST"],
    ["evil.test/good.test:443", "BAD_HOST"],
    ["evil.test\\good.test:443", "BAD_HOST"],
    ["g%6fod.test:443", "BAD_HOST"],
    ["go\xf6d.test:443", "BAD_REQUEST"],
    ["*.cdn.test:443", "BAD_HOST"],
    ["good.test", "BAD_HOST"],
    ["good.test:", "BAD_HOST"],
    ["good.test:0", "BAD_HOST"],
    ["good.test:0443", "BAD_HOST"],
    ["good.test:65979", "BAD_HOST"],
    ["good.test:+443", "BAD_HOST"],
    ["2130706433:443", "BAD_HOST"],
    ["0x7f000001:443", "BAD_HOST"],
    ["0177.0.0.1:443", "BAD_HOST"],
    ["127.1:443", "BAD_HOST"],
    ["::1:443", "BAD_HOST"],
    ["[::ffff:127.0.0.1]:443", "BAD_HOST"],
    ["[fe80::1%25lo]:443", "BAD_HOST"],
    ["[::1:443", "BAD_HOST"],
    ["127.0.0.1:443", "NOT_ALLOWED"],
    ["[::1]:443", "NOT_ALLOWED"],
  ])("refuses %j", async (authority, code) => {
    await using gate = await TestGate.start({
      network: { allow: ["good.test:443", "*.cdn.test:443"] },
      lookup: () => Promise.reject(new Error("never asked")),
    })
    const answer = await gate.ask(`CONNECT ${authority} HTTP/1.1\r\n\r\n`)
    expect(answer).toContain(`X-Glovebox-Denied: ${code}\r\n`)
    expect(gate.denials).toEqual([code])
  })

  it.each<[what: string, request: string, code: string]>([
    ["another Host", "CONNECT good.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n", "HOST_MISMATCH"],
    [
      "two Hosts",
      "CONNECT good.test:443 HTTP/1.1\r\nHost: good.test\r\nHost: good.test\r\n\r\n",
      "HOST_MISMATCH",
    ],
    ["a body", "CONNECT good.test:443 HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody", "SMUGGLING"],
    [
      "a chunked body",
      "CONNECT good.test:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "SMUGGLING",
    ],
    ["a line end in the host", "CONNECT good.test\r\n:443 HTTP/1.1\r\n\r\n", "BAD_REQUEST"],
    ["no version", "CONNECT good.test:443\r\n\r\n", "BAD_REQUEST"],
  ])("refuses CONNECT with %s", async (_what, request, code) => {
    await using gate = await TestGate.start({ network: { allow: ["good.test:443"] } })
    expect(await gate.ask(request)).toMatch(/^HTTP\/1\.1 400 Refused by Glovebox: /)
    expect(gate.denials).toEqual([code])
  })

  it("takes a Host header without the port, and none", async () => {
    await using server = await TestServer.echo()
    await using gate = await TestGate.for(server, { protocol: "tcp" })
    for (const field of ["", "Host: allowed.test\r\n"]) {
      const client = await gate.connect()
      client.send(`CONNECT allowed.test:${server.port} HTTP/1.0\r\n${field}\r\n`)
      await client.until("200 Connection established")
    }
    expect(gate.denials).toEqual([undefined, undefined])
  })

  it("lets a wildcard be one label", async () => {
    await using server = await TestServer.echo()
    await using gate = await TestGate.for(server, { protocol: "tcp" }, "*.cdn.test")
    const client = await gate.connect()
    await client.send(connectTo(`a.cdn.test:${server.port}`)).until("200 ")
    await gate.ask(connectTo(`a.b.cdn.test:${server.port}`))
    await gate.ask(connectTo(`cdn.test:${server.port}`))
    expect(gate.denials).toEqual([undefined, "NOT_ALLOWED", "NOT_ALLOWED"])
  })

  it("carries the end of either side to the other, which may go on", async () => {
    const parts: string[] = []
    await using server = await TestServer.start((socket) => {
      socket.on("end", () => {
        parts.push("client ended")
        socket.end("late answer")
      })
    })
    await using gate = await TestGate.for(server, { protocol: "tcp" })
    const client = (await gate.connect()).send(connectTo(`allowed.test:${server.port}`))
    await client.until("established")
    client.send("question").socket.end()
    expect(await client.all()).toMatch(/late answer$/)
    expect(server.received).toBe("question")
    expect(parts).toEqual(["client ended"])
    expect(await gate.event("closed")).toMatchObject({ ended: "client", bytesUp: 8, bytesDown: 11 })
  })

  it("lets a client go on when the server has ended", async () => {
    await using server = await TestServer.start((socket) => void socket.end("bye"))
    await using gate = await TestGate.for(server, { protocol: "tcp" })
    const client = await gate.connect()
    client.socket.removeAllListeners("end")
    await client.send(connectTo(`allowed.test:${server.port}`)).until("bye")
    await new Promise<void>((resolve) => {
      if (client.socket.readableEnded) resolve()
      else client.socket.once("end", resolve)
    })
    client.send("but wait").socket.end()
    await client.ended
    expect(await gate.event("closed")).toMatchObject({ ended: "server", bytesUp: 8 })
    await vi.waitFor(() => expect(server.received).toBe("but wait"), { interval: 1 })
  })

  it("lets a server of protocol tcp speak first, and end first", async () => {
    await using server = await TestServer.start((socket) => void socket.end("220 hello\r\n"))
    await using gate = await TestGate.for(server, { protocol: "tcp" })
    const client = (await gate.connect()).send(connectTo(`allowed.test:${server.port}`))
    expect(await client.all()).toMatch(/220 hello\r\n$/)
    expect(await gate.event("closed")).toMatchObject({ ended: "server" })
  })
})

describe("EgressGate, asked for an address", () => {
  const resolving = async (
    addresses: readonly string[],
    port: number,
    more: object = {},
  ): Promise<TestGate> =>
    TestGate.start({
      network: { allow: [{ to: `allowed.test:${port}`, protocol: "tcp" }], ...more },
      lookup: () => Promise.resolve(addresses),
    })

  it.each([
    "127.0.0.1",
    "169.254.169.254",
    "10.1.2.3",
    "192.168.1.1",
    "0.0.0.0",
    "::1",
    "::",
    "fe80::1",
    "fe80::1%lo",
    "fd00::1",
    "::ffff:127.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
  ])("refuses an allowed name that resolves to %s", async (address) => {
    await using server = await TestServer.echo()
    await using gate = await resolving([address], server.port)
    const answer = await gate.ask(connectTo(`allowed.test:${server.port}`))
    expect(answer).toMatch(/X-Glovebox-Denied: (?:PRIVATE_ADDRESS|NAME_NOT_FOUND)/)
    expect(server.sockets).toEqual([])
  })

  it("dials what it has looked at, and asks the resolver once", async () => {
    await using server = await TestServer.echo()
    let count = 0
    await using gate = await TestGate.start({
      network: {
        allow: [{ to: `allowed.test:${server.port}`, protocol: "tcp" }],
        allowPrivate: [`127.0.0.1:${server.port}`],
      },
      // A name that points elsewhere when it is asked for again.
      lookup: () => Promise.resolve([++count === 1 ? "127.0.0.1" : "127.0.0.2"]),
    })
    const client = await gate.connect()
    await client.send(connectTo(`allowed.test:${server.port}`)).until("200 ")
    expect(count).toBe(1)
    expect(gate.gate.records().connections).toMatchObject([{ address: "127.0.0.1" }])
  })

  it("dials only those of a name's addresses that it may, one after the other", async () => {
    await using server = await TestServer.echo()
    await using unnamed = await TestServer.start(() => {}, { host: "127.0.0.2", port: server.port })
    // 127.0.0.3 is named, but nobody listens there.
    await using gate = await resolving(["127.0.0.2", "127.0.0.3", "127.0.0.1"], server.port, {
      allowPrivate: [`127.0.0.1:${server.port}`, `127.0.0.3:${server.port}`],
    })
    const client = await gate.connect()
    await client.send(connectTo(`allowed.test:${server.port}`)).until("200 ")
    expect(gate.gate.records().connections).toMatchObject([{ address: "127.0.0.1" }])
    expect(unnamed.sockets).toEqual([])
  })

  it("lets allowPrivate name an address, or a name, and that port only", async () => {
    await using server = await TestServer.echo()
    await using other = await TestServer.echo()
    await using gate = await TestGate.start({
      network: {
        allow: [`allowed.test:${server.port}`],
        allowPrivate: [`127.0.0.1:${server.port}`, `db.test:${server.port}`],
      },
    })
    for (const host of ["127.0.0.1", "db.test"]) {
      const client = await gate.connect()
      await client.send(connectTo(`${host}:${server.port}`)).until("200 ")
      await client.send("any protocol").until("any protocol")
    }
    expect(await gate.ask(connectTo(`127.0.0.1:${other.port}`))).toContain("Denied: PORT")
    expect(await gate.ask(connectTo(`127.0.0.2:${server.port}`))).toContain("Denied: NOT_ALLOWED")
    expect(gate.gate.records().connections[0]?.rule).toBe(`127.0.0.1:${server.port} (private)`)
  })

  it("refuses a private address that is only in allow, and says what to ask for", async () => {
    await using gate = await TestGate.start({ network: { allow: ["10.0.0.5:5432"] } })
    const answer = await gate.ask(connectTo("10.0.0.5:5432"))
    expect(answer).toContain('ask for "10.0.0.5:5432" to be added to network.allowPrivate')
    expect(gate.denials).toEqual(["PRIVATE_ADDRESS"])
  })

  it.each([
    ["an error", () => Promise.reject(new Error("ENOTFOUND"))],
    ["nothing", () => Promise.resolve([])],
    ["no address", () => Promise.resolve(["allowed.test", "1.2.3"])],
    [
      "a throw",
      () => {
        throw new Error("at once")
      },
    ],
  ])("says so when the resolver gives %s", async (_what, lookup) => {
    await using gate = await TestGate.start({ network: { allow: ["allowed.test:443"] }, lookup })
    expect(await gate.ask(connectTo("allowed.test:443"))).toMatch(
      /^HTTP\/1\.1 502 Not reached by Glovebox: No/,
    )
    expect(gate.denials).toEqual(["NAME_NOT_FOUND"])
  })
})

describe("EgressGate, asked by SOCKS5", () => {
  const request = (command: number, type: number, address: Buffer, port: number): Buffer =>
    Buffer.concat([Buffer.from([5, command, 0, type]), address, Buffer.from([port >> 8, port & 255])])
  const name = (text: string): Buffer =>
    Buffer.concat([Buffer.from([text.length]), Buffer.from(text, "latin1")])
  const GREETING = Buffer.from([5, 2, 0, 2])
  const reply = (code: number): string =>
    Buffer.from([5, 0, 5, code, 0, 1, 0, 0, 0, 0, 0, 0]).toString("latin1")

  it.each<[what: string, type: number, address: Buffer]>([
    ["a name", 3, name("allowed.test")],
    ["an IPv4 address", 1, Buffer.from([127, 0, 0, 1])],
    ["an IPv4 address as a name", 3, name("127.0.0.1")],
  ])("connects to %s", async (_what, type, address) => {
    await using server = await TestServer.echo()
    await using gate = await TestGate.for(server, { protocol: "tcp" })
    const client = (await gate.connect()).send(
      Buffer.concat([GREETING, request(1, type, address, server.port)]),
    )
    await client.until(reply(0))
    await client.send("hello").until("hello")
    expect(gate.gate.records().connections).toMatchObject([{ via: "socks5", verdict: "allowed" }])
  })

  it.each<[what: string, bytes: Buffer, code: number, denial: string]>([
    ["another name", request(1, 3, name("evil.test"), 443), 2, "NOT_ALLOWED"],
    ["another port", request(1, 3, name("good.test"), 80), 2, "PORT"],
    ["a NUL in a name", request(1, 3, name("evil.test\0.good.test"), 443), 1, "BAD_HOST"],
    ["a name that ends with a dot", request(1, 3, name("good.test."), 443), 1, "BAD_HOST"],
    ["a name in brackets", request(1, 3, name("[::1]"), 443), 1, "BAD_HOST"],
    ["an empty name", request(1, 3, name(""), 443), 1, "BAD_HOST"],
    ["a line end in a name", request(1, 3, name("good.test\r\n"), 443), 1, "BAD_HOST"],
    [
      "an IPv6 address that is IPv4",
      request(1, 4, Buffer.from("00000000000000000000ffff7f000001", "hex"), 443),
      1,
      "BAD_HOST",
    ],
    [
      "an IPv6 address",
      request(1, 4, Buffer.from("20010db8000000000000000000000001", "hex"), 443),
      2,
      "NOT_ALLOWED",
    ],
    ["port 0", request(1, 3, name("good.test"), 0), 1, "BAD_REQUEST"],
    ["BIND", request(2, 3, name("good.test"), 443), 7, "UNSUPPORTED"],
    ["UDP", request(3, 3, name("good.test"), 443), 7, "UNSUPPORTED"],
    ["an unknown type", request(1, 9, name("good.test"), 443), 8, "BAD_REQUEST"],
    ["a name that is not there", request(1, 3, name("good.test"), 443), 4, "NAME_NOT_FOUND"],
  ])("refuses %s", async (_what, bytes, code, denial) => {
    await using gate = await TestGate.start({
      network: { allow: ["good.test:443"] },
      lookup: () => Promise.reject(new Error("ENOTFOUND")),
    })
    expect(await gate.ask(Buffer.concat([GREETING, bytes]))).toBe(reply(code))
    expect(gate.gate.records().connections).toMatchObject([{ via: "socks5", denial: { code: denial } }])
  })

  it("refuses SOCKS4, and a client that must authenticate", async () => {
    await using gate = await TestGate.start({ network: { allow: ["good.test:443"] } })
    expect(await gate.ask(Buffer.from([4, 1, 1, 187, 127, 0, 0, 1, 0]))).toBe("\0[\0\0\0\0\0\0")
    expect(await gate.ask(Buffer.from([5, 1, 2]))).toBe("\x05\xff")
    expect(gate.denials).toEqual(["UNSUPPORTED", "UNSUPPORTED"])
  })
})
