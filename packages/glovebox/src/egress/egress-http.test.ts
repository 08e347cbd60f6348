import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, it } from "vitest"
import { TestGate, TestServer } from "./egress-gate.test-kit.ts"

describe("EgressGate, asked for one HTTP request", () => {
  it("passes it on in origin form, without what is between neighbours, and closes after it", async () => {
    await using server = await TestServer.http()
    await using gate = await TestGate.for(server)
    const authority = `allowed.test:${server.port}`
    const answer = await gate.ask(
      [
        `POST http://Allowed.test:${server.port}/a/b?c=d HTTP/1.1`,
        `host: ${authority}`,
        "Proxy-Authorization: Basic c2VjcmV0",
        "Proxy-Connection: keep-alive",
        "Connection: keep-alive, X-Mine",
        "Keep-Alive: timeout=5",
        "X-Mine: 1",
        "TE: trailers",
        "X-Other:  kept \t",
        "Content-Length: 4",
        "",
        "bodyGET http://evil.test/ HTTP/1.1\r\n\r\n",
      ].join("\r\n"),
    )
    expect(answer).toBe("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
    const sent = [
      "POST /a/b?c=d HTTP/1.1",
      `Host: ${authority}`,
      "X-Other: kept",
      "Content-Length: 4",
      "Connection: close",
      "",
      "body",
    ].join("\r\n")
    expect(server.received).toBe(sent)
    expect(await gate.event("closed")).toMatchObject({
      via: "http",
      host: "allowed.test",
      method: "POST",
      path: "/a/b",
      bytesUp: sent.length,
      bytesDown: answer.length,
      ended: "server",
    })
  })

  it("gives the path of a URL without one, and keeps the version", async () => {
    await using server = await TestServer.http()
    await using gate = await TestGate.for(server)
    const authority = `allowed.test:${server.port}`
    await gate.ask(`GET HTTP://${authority}?q HTTP/1.0\r\nHost: ${authority}\r\n\r\n`)
    expect(server.received).toMatch(/^GET \/\?q HTTP\/1\.0\r\n/)
  })

  it("passes the answer back as it is, also a redirect to elsewhere, which it does not follow", async () => {
    const redirect = "HTTP/1.1 302 Found\r\nLocation: http://evil.test/\r\nX: \xe9\r\n\r\n"
    await using server = await TestServer.start((socket) => {
      socket.on("text", () => socket.end(Buffer.from(redirect, "latin1")))
    })
    await using gate = await TestGate.for(server)
    const authority = `allowed.test:${server.port}`
    expect(await gate.ask(`GET http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\n\r\n`)).toBe(redirect)
    expect(gate.gate.records().connections).toHaveLength(1)
  })

  it("works for Node's own client, with a large body each way and with Expect", async () => {
    const server = createServer((incoming, outgoing) => void incoming.pipe(outgoing))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    await using gate = await TestGate.start({
      network: { allow: [`allowed.test:${port}`], allowPrivate: [`127.0.0.1:${port}`] },
    })
    const body = Buffer.alloc(1_000_000, "x")
    for (const headers of [{ Expect: "100-continue" }, { "Content-Length": body.length }]) {
      const outgoing = request({
        host: "127.0.0.1",
        port: gate.port,
        method: "PUT",
        path: `http://allowed.test:${port}/echo`,
        headers: { Host: `allowed.test:${port}`, ...headers },
      })
      if ("Expect" in headers) {
        outgoing.flushHeaders()
        await new Promise((resolve) => outgoing.once("continue", resolve))
      }
      outgoing.end(body)
      const length = await new Promise<number>((resolve, reject) => {
        outgoing.once("error", reject)
        outgoing.once("response", (incoming) => {
          let count = 0
          incoming.on("data", (data: Buffer) => (count += data.length))
          incoming.once("end", () => resolve(count))
        })
      })
      expect(length).toBe(body.length)
    }
    server.closeAllConnections()
    server.close()
  })

  it("writes a chunked body anew, and drops extensions and trailers", async () => {
    await using server = await TestServer.http()
    await using gate = await TestGate.for(server)
    const authority = `allowed.test:${server.port}`
    await gate.ask(
      `POST http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\nTransfer-Encoding: Chunked\r\nTrailer: x\r\n\r\n` +
        "3;a=b\r\nabc\r\n00A\r\n0123456789\r\n0\r\nX-Trailer: 1\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n",
    )
    expect(server.received).toBe(
      `POST / HTTP/1.1\r\nHost: ${authority}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n` +
        "d\r\nabc0123456789\r\n0\r\n\r\n",
    )
  })

  const BASE = "http://good.test/"
  it.each<[what: string, request: string, code: string]>([
    ["another Host", `GET ${BASE} HTTP/1.1\r\nHost: evil.test\r\n\r\n`, "HOST_MISMATCH"],
    ["another port in Host", `GET ${BASE} HTTP/1.1\r\nHost: good.test:8080\r\n\r\n`, "HOST_MISMATCH"],
    ["no Host", `GET ${BASE} HTTP/1.1\r\n\r\n`, "HOST_MISMATCH"],
    ["two Hosts", `GET ${BASE} HTTP/1.1\r\nHost: good.test\r\nhost: good.test\r\n\r\n`, "HOST_MISMATCH"],
    ["an odd Host", `GET ${BASE} HTTP/1.1\r\nHost: good.test.\r\n\r\n`, "BAD_HOST"],
    ["userinfo", "GET http://good.test@evil.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n", "BAD_HOST"],
    [
      "userinfo with a port",
      "GET http://good.test:80@evil.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n",
      "BAD_HOST",
    ],
    ["a backslash", "GET http://good.test\\@evil.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n", "BAD_HOST"],
    ["an encoded host", "GET http://g%6fod.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n", "BAD_HOST"],
    ["an empty host", "GET http:///good.test HTTP/1.1\r\nHost: good.test\r\n\r\n", "BAD_HOST"],
    ["a fragment", `GET ${BASE}#x HTTP/1.1\r\nHost: good.test\r\n\r\n`, "BAD_REQUEST"],
    ["a space in the path", `GET ${BASE}a b HTTP/1.1\r\nHost: good.test\r\n\r\n`, "BAD_REQUEST"],
    ["https", "GET https://good.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n", "BAD_REQUEST"],
    ["another scheme", "GET ftp://good.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n", "BAD_REQUEST"],
    ["only a path", "GET / HTTP/1.1\r\nHost: good.test\r\n\r\n", "BAD_REQUEST"],
    ["line ends without CR", `GET ${BASE} HTTP/1.1\nHost: good.test\n\n`, "BAD_REQUEST"],
    ["a CR alone", `GET ${BASE} HTTP/1.1\r\nX: a\rb\r\nHost: good.test\r\n\r\n`, "BAD_REQUEST"],
    ["a NUL", `GET ${BASE} HTTP/1.1\r\nX: a\0b\r\nHost: good.test\r\n\r\n`, "BAD_REQUEST"],
    ["a folded header", `GET ${BASE} HTTP/1.1\r\nX: a\r\n b\r\nHost: good.test\r\n\r\n`, "BAD_REQUEST"],
    ["a space before the colon", `GET ${BASE} HTTP/1.1\r\nHost : good.test\r\n\r\n`, "BAD_REQUEST"],
    ["a header without a name", `GET ${BASE} HTTP/1.1\r\n: x\r\nHost: good.test\r\n\r\n`, "BAD_REQUEST"],
    ["an empty line first", `\r\nGET ${BASE} HTTP/1.1\r\nHost: good.test\r\n\r\n`, "BAD_REQUEST"],
    ["an odd method", `G(T ${BASE} HTTP/1.1\r\nHost: good.test\r\n\r\n`, "BAD_REQUEST"],
    ["no version", `GET ${BASE}\r\n\r\n`, "BAD_REQUEST"],
    ["another version", `GET ${BASE} HTTP/1.2\r\nHost: good.test\r\n\r\n`, "BAD_REQUEST"],
    ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "UNSUPPORTED"],
    ["a cut head", `GET ${BASE} HTTP/1.1\r\nHost: go`, "BAD_REQUEST"],
    ["a large head", `GET ${BASE} HTTP/1.1\r\nX: ${"x".repeat(33_000)}\r\n\r\n`, "HEADER_TOO_LARGE"],
    ["many fields", `GET ${BASE} HTTP/1.1\r\n${"a:b\r\n".repeat(201)}\r\n`, "HEADER_TOO_LARGE"],
    ["two lengths", fields("Content-Length: 1\r\nContent-Length: 1"), "SMUGGLING"],
    ["a list of lengths", fields("Content-Length: 1, 1"), "SMUGGLING"],
    ["a signed length", fields("Content-Length: +1"), "SMUGGLING"],
    ["a length in hexadecimal", fields("Content-Length: 0x1"), "SMUGGLING"],
    ["a length with a zero in front", fields("Content-Length: 01"), "SMUGGLING"],
    ["an empty length", fields("Content-Length:"), "SMUGGLING"],
    ["length and encoding", fields("Content-Length: 1\r\nTransfer-Encoding: chunked"), "SMUGGLING"],
    ["two encodings", fields("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"), "SMUGGLING"],
    ["a list of encodings", fields("Transfer-Encoding: gzip, chunked"), "SMUGGLING"],
    ["an unknown encoding", fields("Transfer-Encoding: xchunked"), "SMUGGLING"],
    ["an encoding with a tab", fields("Transfer-Encoding: \vchunked"), "BAD_REQUEST"],
    ["an encoding in HTTP/1.0", fields("Transfer-Encoding: chunked", "1.0"), "SMUGGLING"],
    ["Connection: content-length", fields("Connection: content-length\r\nContent-Length: 1"), "SMUGGLING"],
    ["Connection: Host", fields("Connection: close, Host"), "SMUGGLING"],
    ["an upgrade to HTTP/2", fields("Connection: Upgrade\r\nUpgrade: h2c"), "UNSUPPORTED"],
    ["settings of HTTP/2", fields("Upgrade: websocket\r\nHTTP2-Settings: AAMAAABk"), "UNSUPPORTED"],
    ["several upgrades", fields("Upgrade: websocket, foo"), "BAD_REQUEST"],
    ["an upgrade with a body", fields("Upgrade: websocket\r\nContent-Length: 1"), "BAD_REQUEST"],
  ])("refuses a request with %s", async (_what, request, code) => {
    await using gate = await TestGate.start({
      network: { allow: ["good.test:80"] },
      lookup: () => Promise.reject(new Error("never asked")),
    })
    const client = (await gate.connect()).send(request)
    client.socket.end()
    const answer = await client.all()
    expect(answer).toMatch(/^HTTP\/1\.1 40[03] (?:Refused|Denied) by Glovebox: [\x20-\x7e]{1,180}\r\n/)
    expect(answer).toContain(`X-Glovebox-Denied: ${code}\r\n`)
    expect(gate.denials).toEqual([code])
  })

  function fields(text: string, version = "1.1"): string {
    return `POST http://good.test/ HTTP/${version}\r\nHost: good.test\r\n${text}\r\n\r\n`
  }

  it.each([
    ["a size that is none", "x\r\n"],
    ["no size", "\r\n"],
    ["a negative size", "-1\r\n"],
    ["a size in another form", "0x3\r\nabc\r\n"],
    ["a huge size", "fffffffff\r\n"],
    ["a space after the size", "3 \r\nabc\r\n"],
    ["a line end without CR", "3\nabc\r\n"],
    ["a chunk longer than it says", "3\r\nabcd\r\n"],
    ["a chunk that ends without CR", "3\r\nabc\n"],
    ["a control character in an extension", "3;\0\r\nabc\r\n"],
    ["a long extension", `3;${"x".repeat(300)}\r\nabc\r\n`],
    ["a trailer that is none", "0\r\nGET / HTTP/1.1\r\n\r\n"],
    ["a trailer without CR", "0\r\nX: 1\n\r\n"],
  ])("cuts a chunked body with %s", async (_what, chunks) => {
    await using server = await TestServer.start()
    await using gate = await TestGate.for(server)
    const authority = `allowed.test:${server.port}`
    const head = `POST http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\nTransfer-Encoding: chunked\r\n\r\n`
    expect(await gate.ask(`${head}2\r\nok\r\n${chunks}`)).toMatch(
      /^HTTP\/1\.1 400 .*\r\n[^]*Denied: SMUGGLING/,
    )
    expect(await gate.event("closed")).toMatchObject({ verdict: "allowed", denial: { code: "SMUGGLING" } })
    expect(server.received).not.toContain("0\r\n\r\n")
  })

  it("gives up a request whose client leaves in the middle of its body", async () => {
    await using server = await TestServer.start()
    await using gate = await TestGate.for(server)
    const authority = `allowed.test:${server.port}`
    const client = await gate.connect()
    client.send(`POST http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\nContent-Length: 9\r\n\r\npart`)
    client.socket.end()
    await client.ended
    expect(await gate.event("closed")).toMatchObject({ ended: "client" })
  })

  it("passes the answer of a server that does not read all of the body", async () => {
    await using server = await TestServer.start((socket) => {
      socket.once("text", () => {
        socket.pause()
        socket.end("HTTP/1.1 413 Too Large\r\nConnection: close\r\n\r\n")
      })
    })
    await using gate = await TestGate.for(server)
    const authority = `allowed.test:${server.port}`
    const client = await gate.connect()
    client.send(
      `POST http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\nContent-Length: 99999999\r\n\r\n`,
    )
    client.send(Buffer.alloc(500_000))
    expect(await client.all()).toBe("HTTP/1.1 413 Too Large\r\nConnection: close\r\n\r\n")
  })
})

describe("EgressGate, asked for an upgrade", () => {
  const upgrade = (authority: string): string =>
    `GET http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n`

  it("passes bytes both ways once the server has agreed", async () => {
    await using server = await TestServer.start((socket) => {
      socket.once("text", () => {
        socket.write("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 101 Switching Pro")
        setImmediate(() => {
          socket.write("tocols\r\nUpgrade: websocket\r\n\r\nfirst")
          socket.pipe(socket)
        })
      })
    })
    await using gate = await TestGate.for(server)
    const client = (await gate.connect()).send(upgrade(`allowed.test:${server.port}`))
    await client.until("first")
    expect(server.received).toContain("\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
    await client.send("frame").until("frame")
    client.socket.end()
    await client.ended
    expect(await gate.event("closed")).toMatchObject({
      ended: "server",
      bytesUp: expect.any(Number) as number,
    })
  })

  it("passes nothing more up when the server has not agreed", async () => {
    await using server = await TestServer.start((socket) => {
      socket.once("text", () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno"))
    })
    await using gate = await TestGate.for(server)
    const client = (await gate.connect()).send(upgrade(`allowed.test:${server.port}`))
    await client.until("\r\n\r\nno")
    const before = server.received
    client.send("frame")
    server.sockets[0]?.end()
    await client.all()
    expect(server.received).toBe(before)
  })
})

describe("EgressGate, sent plain HTTP in a connection of CONNECT", () => {
  const open = async (gate: TestGate, port: number, text: string): Promise<string> =>
    (await gate.ask(`CONNECT allowed.test:${port} HTTP/1.1\r\n\r\n${text}`)).replace(
      /^.*established\r\n\r\n/,
      "",
    )

  it("looks at the request as at any other", async () => {
    await using server = await TestServer.http()
    await using gate = await TestGate.for(server, { methods: ["GET"], paths: ["/simple/"] })
    const host = `Host: allowed.test:${server.port}\r\n\r\n`
    expect(await open(gate, server.port, `GET /simple/ HTTP/1.1\r\n${host}`)).toMatch(/^HTTP\/1\.1 200 OK/)
    expect(server.received).toMatch(/^GET \/simple\/ HTTP\/1\.1\r\nHost: .*\r\nConnection: close\r\n\r\n$/)
    for (const [request, code] of [
      [`POST /simple/ HTTP/1.1\r\n${host}`, "METHOD"],
      [`GET /other HTTP/1.1\r\n${host}`, "PATH"],
      ["GET /simple/ HTTP/1.1\r\nHost: evil.test\r\n\r\n", "HOST_MISMATCH"],
      [`GET http://allowed.test:${server.port}/simple/ HTTP/1.1\r\n${host}`, "BAD_REQUEST"],
      [`CONNECT evil.test:443 HTTP/1.1\r\n${host}`, "UNSUPPORTED"],
      ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "UNSUPPORTED"],
      ["EHLO me\r\n", "BAD_REQUEST"],
    ] as const)
      expect(await open(gate, server.port, request)).toContain(`X-Glovebox-Denied: ${code}\r\n`)
    expect(gate.gate.records().connections).toMatchObject(
      [
        undefined,
        "METHOD",
        "PATH",
        "HOST_MISMATCH",
        "BAD_REQUEST",
        "UNSUPPORTED",
        "UNSUPPORTED",
        "BAD_REQUEST",
      ].map((code) => ({ via: "connect", ...(code ? { denial: { code } } : {}) })),
    )
  })

  it.each([
    ["SSH", "SSH-2.0-OpenSSH_9.6\r\n"],
    ["bytes", "\0\x01\x02"],
    ["SOCKS", "\x05\x01\0"],
    ["an old TLS", "\x80\x2e\x01\x03\x01"],
    ["a long word", "A".repeat(40)],
  ])("refuses %s by a rule for TLS and HTTP, and passes none of it", async (_what, text) => {
    await using server = await TestServer.start()
    await using gate = await TestGate.for(server)
    expect(await open(gate, server.port, text)).toBe("")
    expect(gate.gate.records().connections).toMatchObject([
      { verdict: "denied", denial: { code: "PROTOCOL" } },
    ])
    expect(server.received).toBe("")
  })
})
