import { describe, expect, it } from "vitest"
import { TestGate, TestServer } from "./egress-gate.test-kit.ts"
import { PLACEHOLDER, VALUE, base64, gateTo, request } from "./secret-gate.test-kit.ts"

describe("EgressGate, with a secret", () => {
  it("puts the value where the placeholder stands, also in Basic credentials, and tells of it without it", async () => {
    await using server = await TestServer.http()
    await using gate = await gateTo(server)
    const headers = [
      `Authorization: Basic ${base64(`me:${PLACEHOLDER}`)}`,
      `X-Key: key ${PLACEHOLDER}`,
      "Accept-Encoding: gzip",
    ]
    expect(await gate.ask(request(server.port, headers))).toContain("200 OK")
    expect(server.received).toContain(`\r\nAuthorization: Basic ${base64(`me:${VALUE}`)}\r\n`)
    expect(server.received).toContain(`\r\nX-Key: key ${VALUE}\r\n`)
    expect(server.received).toMatch(/\r\nAccept-Encoding: identity\r\n/)
    expect(server.received).not.toContain("gzip")
    const opened = await gate.event("opened")
    expect(opened.secrets).toEqual([{ name: "TOKEN", host: `allowed.test:${server.port}` }])
    expect(JSON.stringify([gate.events, gate.gate.records()])).not.toContain("s3cr3t")
  })

  it.each([
    ["nothing stands", []],
    ["the placeholder stands", [`authorization: Token ${PLACEHOLDER}`]],
    ["it stands in Basic credentials", [`Authorization: Basic ${base64(`${PLACEHOLDER}:x`)}`]],
  ])("sets its header where %s", async (_where, headers) => {
    await using server = await TestServer.http()
    await using gate = await gateTo(server, { header: "Authorization", format: "Bearer {value}" })
    await gate.ask(request(server.port, headers))
    expect(server.received.match(/authorization: .*/gi)).toEqual([`Authorization: Bearer ${VALUE}`])
  })

  it("leaves a credential of the code's own, and a request that asks for nothing", async () => {
    await using server = await TestServer.http()
    await using gate = await gateTo(server, { header: "Authorization" })
    await gate.ask(request(server.port, ["Authorization: Bearer mine"]))
    expect(server.received).toContain("\r\nAuthorization: Bearer mine\r\n")
    await using second = await gateTo(server)
    await second.ask(request(server.port, []))
    expect(server.received).not.toContain(VALUE)
    expect((await second.event("closed")).secrets).toBeUndefined()
  })

  it.each([
    ["another host", {}, "other.test"],
    ["the host by plain HTTP, when it is for TLS", { hosts: ["allowed.test"] }, "allowed.test"],
    ["another port", { hosts: ["http://allowed.test:1"] }, "allowed.test"],
  ])("sends %s the placeholder alone, and tells of that", async (_what, more, host) => {
    await using server = await TestServer.http()
    const hosts =
      "hosts" in more && more.hosts[0] === "allowed.test" ? [`allowed.test:${server.port}`] : undefined
    await using gate = await gateTo(server, { ...more, ...(hosts ? { hosts } : {}) })
    await gate.ask(request(server.port, [`X-Key: ${PLACEHOLDER}`], { host }))
    expect(server.received).toContain(`X-Key: ${PLACEHOLDER}`)
    expect(server.received).not.toContain(VALUE)
    expect(await gate.event("opened")).toMatchObject({ secretsWithheld: ["TOKEN"] })
    expect((await gate.event("closed")).secrets).toBeUndefined()
  })

  it("is not to be dropped on its way by a header that Connection names", async () => {
    await using server = await TestServer.http()
    await using gate = await gateTo(server, { header: "X-Key" })
    await gate.ask(request(server.port, ["Connection: x-key, close", "X-Key: mine"]))
    expect(server.received).toContain(`X-Key: ${VALUE}`)
  })

  it("lets the value not come back: head, body, other forms, over the borders of chunks and packets", async () => {
    const body = [
      VALUE,
      encodeURIComponent(VALUE),
      JSON.stringify({ key: VALUE }).replaceAll("/", String.raw`\/`),
      base64(VALUE),
      base64(`user:${VALUE}`),
      base64(`a:${VALUE}:b`).replaceAll("+", "-").replaceAll("/", "_"),
      "s3cr3t/value+of&the",
    ].join("\n")
    const chunks = body
      .split("")
      .map((letter) => `1\r\n${letter}\r\n`)
      .join("")
    const answer = `HTTP/1.1 100 Continue\r\nX-A: ${VALUE}\r\n\r\nHTTP/1.1 200 OK\r\nLocation: /?${VALUE}\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`
    await using server = await TestServer.start((socket) => {
      socket.setNoDelay(true)
      socket.once("text", () => void drip(answer))
      const drip = async (text: string): Promise<void> => {
        for (let at = 0; at < text.length; at += 7) {
          socket.write(text.slice(at, at + 7), "latin1")
          await new Promise((resolve) => setImmediate(resolve))
        }
        socket.end()
      }
    })
    await using gate = await gateTo(server, { header: "X-Key" })
    const got = await gate.ask(request(server.port, []))
    expect(got).not.toContain(VALUE)
    expect(got.match(new RegExp(`X-A: ${PLACEHOLDER}`))).not.toBeNull()
    expect(got).toContain(`Location: /?${PLACEHOLDER}\r\n`)
    const text = unchunked(got)
    const [plain, url, json, inBase64, basic, safe, part] = text.split("\n")
    expect([plain, url?.startsWith(PLACEHOLDER), json?.includes(PLACEHOLDER)]).toEqual([
      PLACEHOLDER,
      true,
      true,
    ])
    expect(Buffer.from(inBase64!, "base64").toString("latin1")).toContain(PLACEHOLDER.slice(0, -2))
    expect(Buffer.from(basic!, "base64").toString("latin1")).not.toContain(VALUE.slice(3, -3))
    expect(Buffer.from(safe!, "base64url").toString("latin1")).not.toContain(VALUE.slice(3, -3))
    // What only begins like it is nobody's.
    expect(part).toBe("s3cr3t/value+of&the")
  })

  it("keeps the length of a body that has one", async () => {
    const body = `>${VALUE}<`
    await using server = await TestServer.http(
      `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    )
    await using gate = await gateTo(server, { header: "X-Key" })
    const got = await gate.ask(request(server.port, []))
    expect(got).toMatch(new RegExp(`Content-Length: ${body.length}\r\n[\\s\\S]*\r\n\r\n>${PLACEHOLDER}<$`))
  })

  it("holds nothing back of a body that is whole, though its end looks like a secret's beginning", async () => {
    const body = `>${VALUE.slice(0, 8)}`
    await using server = await TestServer.start((socket) => {
      socket.once("text", () =>
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
      )
    })
    await using gate = await gateTo(server, { header: "X-Key" })
    const client = (await gate.connect()).send(request(server.port, []))
    expect(await client.until(body)).toContain("200 OK")
  })

  it("refuses an answer that it cannot read", async () => {
    await using server = await TestServer.http(
      "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
    )
    await using gate = await gateTo(server, { header: "X-Key" })
    expect(await gate.ask(request(server.port, []))).toMatch(/^HTTP\/1\.1 502 .*secret[\s\S]*SECRET_HIDDEN/)
    expect(await gate.event("closed")).toMatchObject({ denial: { code: "SECRET_HIDDEN" } })
    // Without a secret in the request it is none of the gate's concern.
    await using plain = await TestGate.for(server)
    expect(await plain.ask(request(server.port, []))).toContain("abc")
  })
})

function unchunked(answer: string): string {
  const body = answer.slice(answer.lastIndexOf("\r\n\r\n", answer.length - 5) + 4)
  let text = ""
  for (let at = 0; at < body.length;) {
    const end = body.indexOf("\r\n", at)
    const size = Number.parseInt(body.slice(at, end), 16)
    text += body.slice(end + 2, end + 2 + size)
    at = end + 2 + size + 2
  }
  return text
}
