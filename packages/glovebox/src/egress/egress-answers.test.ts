import { describe, expect, it } from "vitest"
import { TestGate, TestServer } from "./egress-gate.test-kit.ts"
import { PLACEHOLDER, VALUE, base64, gateTo, request } from "./secret-gate.test-kit.ts"

/** The value as some writer gives it back. */
const escapedBy = (letters: RegExp, escape: (code: number) => string): string =>
  VALUE.replaceAll(letters, (letter) => escape(letter.charCodeAt(0)))

const hex = (code: number): string => code.toString(16).padStart(4, "0")
const CREDENTIALS = base64("me:s3cr3t~~~???+value")

function answer(body: string, ...head: string[]): string {
  return ["HTTP/1.1 200 OK", ...head, `Content-Length: ${body.length}`, "Connection: close", "", body].join(
    "\r\n",
  )
}

/** A server that sends these pieces one after the other, each on its way before the next. */
function inPieces(...pieces: string[]): Promise<TestServer> {
  return TestServer.start((socket) => {
    socket.setNoDelay(true)
    socket.once("text", () => void send())
    const send = async (): Promise<void> => {
      for (const piece of pieces) {
        await new Promise((resolve) => socket.write(piece, "latin1", resolve))
        await new Promise((resolve) => setImmediate(resolve))
      }
      socket.end()
    }
  })
}

describe("The answers of a host that a secret is for", () => {
  it.each([
    ["letters of JSON by number", escapedBy(/[+&]/g, (code) => String.raw`\u${hex(code).toUpperCase()}`)],
    ["the same in small letters", escapedBy(/[+&=]/g, (code) => String.raw`\u${hex(code)}`)],
    ["letters of HTML by number", escapedBy(/[+&/=]/g, (code) => `&#${code};`)],
    ["the same in hexadecimal", escapedBy(/[+&/=]/g, (code) => `&#x${code.toString(16).toUpperCase()};`)],
    ["a URL that leaves slashes", encodeURIComponent(VALUE).replaceAll("%2F", "/")],
    ["a URL in small letters", encodeURIComponent(VALUE).replaceAll(/%../g, (code) => code.toLowerCase())],
    ["two ways at once", encodeURIComponent(VALUE).replaceAll("%26", "&amp;")],
    ["capital letters", VALUE.toUpperCase()],
    ["UTF-16", VALUE.split("").join("\0")],
  ])("do not have its value: %s", async (_what, text) => {
    await using server = await TestServer.http(answer(`>${text}<`))
    await using gate = await gateTo(server, { header: "X-Key" })
    const got = await gate.ask(request(server.port, []))
    expect(got).not.toContain(text)
    expect(got.replaceAll("\0", "")).toMatch(/>gbx_\w+<$/)
  })

  it("do not have it within base64 that was escaped once more", async () => {
    expect(CREDENTIALS).toContain("/")
    await using server = await TestServer.http(answer(`"${CREDENTIALS.replaceAll("/", String.raw`\/`)}"`))
    const value = "s3cr3t~~~???+value"
    await using gate = await gateTo(server, { header: "X-Key", value, placeholder: "gbx_12345678901234" })
    const got = await gate.ask(request(server.port, []))
    const said = /"(.*)"$/.exec(got)![1]!.replaceAll(String.raw`\/`, "/")
    expect(Buffer.from(said, "base64").toString("latin1")).not.toContain("value")
  })

  it("do not have it either when this request was sent without it", async () => {
    await using server = await TestServer.http(answer(`kept ${VALUE}`))
    await using gate = await gateTo(server)
    const got = await gate.ask(request(server.port, ["Accept-Encoding: gzip", "Accept-Charset: utf-16"]))
    expect(got).toMatch(new RegExp(`kept ${PLACEHOLDER}$`))
    expect(server.received).not.toMatch(/gzip|utf-16/)
    expect((await gate.event("closed")).secrets).toBeUndefined()
    // Another host never had it.
    await gate.ask(request(server.port, ["Accept-Encoding: gzip"], { host: "other.test" }))
    expect(server.received).toContain("Accept-Encoding: gzip")
  })

  const [first, second] = [VALUE.slice(0, 9), VALUE.slice(9)]
  it.each([
    ["ends where no body ends", ["HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody", first, second]],
    ["has a length that is none", ["HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", first, second]],
    ["has a length below nothing", ["HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", first, second]],
    [
      "has two lengths",
      ["HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 99\r\n\r\n", first, second],
    ],
    [
      "hides its framing behind a blank",
      [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\n\r\n",
        `9\r\n${first}\r\nf\r\n${second}\r\n0\r\n\r\n`,
      ],
    ],
    [
      "hides its framing in a folded line",
      [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n\r\n",
        `9\r\n${first}\r\nf\r\n${second}\r\n0\r\n\r\n`,
      ],
    ],
    ["has a value over folded lines", [`HTTP/1.1 200 OK\r\nX-A: ${first}\r\n ${second}\r\n\r\n`]],
    ["has other line ends", ["HTTP/1.1 200 OK\nContent-Encoding: gzip\n\n", first, second]],
    ["has other line ends at times", ["HTTP/1.1 200 OK\nContent-Encoding: gzip\n\n\r\n\r\n", first, second]],
    ["has no end of its head", ["HTTP/1.1 200 OK\r\nX-A: 1\r\n", first]],
    ["is of another version", ["HTTP/3 200 OK\r\n\r\n", first, second]],
  ])("do not have it in an answer that %s", async (_what, pieces) => {
    await using server = await inPieces(...pieces)
    await using gate = await gateTo(server, { header: "X-Key" })
    const got = await gate.ask(request(server.port, []))
    expect(got.replaceAll(/[\r\n ]/g, "")).not.toContain(second)
    expect(got).toMatch(/body$|X-Glovebox-Denied: SECRET_HIDDEN/)
  })

  it("do not have it after an upgrade, to which no compression was offered", async () => {
    await using server = await TestServer.start((socket) => {
      socket.once("text", () => {
        socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n>${first}`)
        socket.once("text", () => socket.end(`${second}<`))
      })
    })
    await using gate = await gateTo(server, { header: "X-Key" })
    const upgrade = [
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Extensions: permessage-deflate",
    ]
    const client = (await gate.connect()).send(request(server.port, upgrade))
    await client.until(">")
    expect(await client.send(PLACEHOLDER).all()).toMatch(new RegExp(`>${PLACEHOLDER}<$`))
    expect(server.received).toContain(`X-Key: ${VALUE}\r\n`)
    expect(server.received).not.toContain("deflate")
    // What is said after it is no header.
    expect(server.received.endsWith(PLACEHOLDER)).toBe(true)
  })

  it("do not have the rest of a value that begins with another", async () => {
    const long = `${VALUE}-and-more-of-it`
    const secrets = [
      { name: "A", value: VALUE, placeholder: PLACEHOLDER },
      { name: "B", value: long, placeholder: "gbx_".padEnd(long.length, "b") },
    ]
    await using server = await inPieces("HTTP/1.1 200 OK\r\n\r\n", `>${VALUE}`, "-and-more-of-it<")
    const hosts = [`http://allowed.test:${server.port}`]
    await using gate = await TestGate.for(server, {}, "allowed.test", {
      secrets: secrets.map((secret) => ({ ...secret, hosts, header: `X-${secret.name}` })),
    })
    expect(await gate.ask(request(server.port, []))).toMatch(/>gbx_b+<$/)
  })
})

describe("A placeholder in a path or a query", () => {
  it.each(["/x/PLACE", "/x?key=PLACE"])("stays, and is told of: %s", async (path) => {
    await using server = await TestServer.http()
    await using gate = await gateTo(server)
    await gate.ask(request(server.port, [], { path: path.replace("PLACE", PLACEHOLDER) }))
    expect(server.received).toContain(PLACEHOLDER)
    expect(await gate.event("opened")).toMatchObject({ secretsWithheld: ["TOKEN"] })
  })
})
