import { once } from "node:events"
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { type ToolParameters, toolResultText } from "../index.ts"
import { type HttpToolOptions, httpTool } from "./index.ts"
import { UrlTemplate } from "./url-template.ts"

interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

let answer: (request: IncomingMessage, response: ServerResponse) => void
const seen: Seen[] = []
const servers: Server[] = []
let origin = ""
let other = ""

async function listen(): Promise<string> {
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text: string) => (body += text))
    request.on("end", () => {
      seen.push({ method: request.method, url: request.url, headers: request.headers, body })
      answer(request, response)
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  servers.push(server)
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

beforeAll(async () => {
  origin = await listen()
  other = await listen()
})

afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

const hostOf = (at: string): string => at.replace("http://", "")

async function ask(
  options: Partial<HttpToolOptions<ToolParameters>> & { readonly path?: string },
  args: object,
): Promise<{ text: string; isError: boolean; seen: Seen[] }> {
  const { path = "/", ...rest } = options
  seen.length = 0
  const made = httpTool({
    name: "api",
    description: "Asks",
    url: `${origin}${path}`,
    allow: [hostOf(origin)],
    allowPrivate: true,
    parameters: z.looseObject({ id: z.unknown().optional(), q: z.unknown().optional() }),
    ...rest,
  })
  const result = await made.run(args)
  return { text: toolResultText(result), isError: result.isError, seen: [...seen] }
}

const ok = (_request: IncomingMessage, response: ServerResponse): void => void response.end("ok")

describe("httpTool", () => {
  it("puts arguments into their places, encoded, and the others into the query", async () => {
    answer = ok
    const args = { id: "a/../b?c#d%2e é", q: "x&y=z", more: ["1 2", 3], deep: { a: 1 } }
    const { text, seen: requests } = await ask({ path: "/users/{id}/posts?search={q}&v=1" }, args)
    expect(text).toBe("ok")
    expect(requests[0]).toMatchObject({ method: "GET", body: "" })
    const url = new URL(requests[0]?.url ?? "", origin)
    expect(url.pathname).toBe("/users/a%2F..%2Fb%3Fc%23d%252e%20%C3%A9/posts")
    expect([...url.searchParams]).toEqual([
      ["search", "x&y=z"],
      ["v", "1"],
      ["more", "1 2"],
      ["more", "3"],
      ["deep", '{"a":1}'],
    ])
  })

  it("sends the others as a JSON body where the method has one", async () => {
    answer = ok
    const { seen: requests } = await ask(
      { method: "POST", path: "/{id}", headers: { "x-key": "k" } },
      { id: 5, q: "é" },
    )
    expect(requests).toMatchObject([
      {
        method: "POST",
        url: "/5",
        body: '{"q":"é"}',
        headers: { "content-type": "application/json", "x-key": "k" },
      },
    ])
  })

  it("sends what the schema names alone, unless it is open by its own word", async () => {
    answer = (_request, response) => response.end("ok")
    const properties = { q: { type: "string" } }
    const args = JSON.parse('{"q":"1","admin":"true","__proto__":"x"}') as object
    const open = await ask({ parameters: { type: "object", properties } }, args)
    expect(open.seen[0]?.url).toBe("/?q=1")
    const posted = await ask({ parameters: { type: "object", properties }, method: "POST" }, args)
    expect(posted.seen[0]?.body).toBe('{"q":"1"}')
    const wanted = { type: "object", properties, additionalProperties: { type: "string" } }
    expect((await ask({ parameters: wanted }, { q: "1", more: "2" })).seen[0]?.url).toBe("/?q=1&more=2")
    const fixed = await ask({ parameters: wanted, path: "/?tenant=mine" }, { q: "1", tenant: "all" })
    expect(fixed.seen[0]?.url).toBe("/?tenant=mine&q=1")
  })

  it("refuses a parameter that would be in the query twice", () => {
    const url = "https://api.example.com/?tenant=mine&q={q}"
    const parameters = z.object({ q: z.string(), tenant: z.string() })
    expect(
      failureOf(() => httpTool({ name: "t", description: "d", url, allow: ["api.example.com"], parameters })),
    ).toMatch(/has tenant in its query/)
  })

  it("refuses half of a way up that the address has already", () => {
    const template = new UrlTemplate("https://api.example.com/a/%2e{id}/b")
    expect(() => template.withArguments({ id: "." })).toThrow("cannot be a part of a path")
    expect(template.withArguments({ id: "x" }).pathname).toBe("/a/%2ex/b")
  })

  it("tells no key, also when the server does", async () => {
    answer = (request, response) =>
      response.writeHead(401).end(`bad key ${String(request.headers["x-api-key"])}!`)
    const headers = { "x-api-key": "s3cr3t-key", accept: "application/json" }
    expect((await ask({ headers }, {})).text).toBe("HTTP 401 Unauthorized: bad key [redacted]!")
    answer = (request, response) => response.end(JSON.stringify(request.headers))
    const { text } = await ask(
      { headers: () => ({ authorization: "Bearer s3cr3t-tok", accept: "text/plain" }) },
      {},
    )
    expect(text).toContain('"authorization":"Bearer [redacted]"')
    expect(text).toContain('"accept":"text/plain"')
  })

  it("waits for its headers no longer than for the answer", async () => {
    const { text, isError } = await ask({ headers: () => new Promise<never>(() => {}), timeoutMs: 50 }, {})
    expect(isError).toBe(true)
    expect(text).toMatch(/time/i)
  })

  it.each([".", "..", ""])("refuses %j as a part of the path", async (id) => {
    const { text, isError, seen: requests } = await ask({ path: "/users/{id}" }, { id })
    expect(isError).toBe(true)
    expect(text).toContain("which cannot be a part of a path")
    expect(requests).toEqual([])
  })

  it("stays at its place whatever the arguments are", () => {
    const address = new UrlTemplate("https://api.example.com/v1/{a}{b}/end?q={c}")
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom(".", "..", "/", "\\", "%2e%2e", "\uD800", "é😀", "@evil.example", "\r\nx: y", "//"),
    )
    fc.assert(
      fc.property(text, text, text, (a, b, c) => {
        let url: URL
        try {
          url = address.withArguments({ a, b, c })
        } catch {
          return
        }
        const [, version, segment = "", end, ...rest] = url.pathname.split("/")
        const found = [
          url.origin,
          version,
          decodeURIComponent(segment),
          end,
          rest,
          [...url.searchParams],
          url.hash,
        ]
        expect(found).toEqual(["https://api.example.com", "v1", `${a}${b}`, "end", [], [["q", c]], ""])
      }),
    )
  })

  it("answers with JSON as text, with an image as an image, and with words for nothing", async () => {
    answer = (_request, response) =>
      void response.setHeader("content-type", "application/json").end('{"a":1}')
    expect((await ask({}, {})).text).toBe('{"a":1}')
    answer = (_request, response) =>
      void response.setHeader("content-type", "image/png").end(Buffer.from("89504E470D0A1A0A0000", "hex"))
    expect((await ask({}, {})).text).toBe("[image: image/png]")
    answer = (_request, response) => void response.writeHead(204).end()
    expect((await ask({}, {})).text).toBe("HTTP 204 No Content, without content")
  })

  it("tells a status that is an error as one, with what the server says", async () => {
    answer = (_request, response) => void response.writeHead(422).end("id is not a number")
    expect(await ask({}, {})).toMatchObject({
      isError: true,
      text: "HTTP 422 Unprocessable Entity: id is not a number",
    })
  })

  it("keeps the start of an answer that is too long", async () => {
    answer = (_request, response) => void response.end("x".repeat(100_000))
    const { text } = await ask({ maxBytes: 10 }, {})
    expect(text).toBe(`${"x".repeat(10)}\n[the rest was left out: it is too long]`)
  })

  it("follows redirects to hosts that it may ask, and takes no key there", async () => {
    answer = (request, response) => {
      if (request.url === "/start") response.writeHead(302, { location: `${other}/end` }).end()
      else response.end("arrived")
    }
    const headers = (): Record<string, string> => ({ authorization: "Bearer key" })
    const refused = await ask({ path: "/start", headers }, {})
    expect(refused).toMatchObject({ isError: true })
    expect(refused.text).toContain(`it redirects, and ${hostOf(other)} is not among the hosts`)
    const both = await ask({ path: "/start", headers, allow: [hostOf(origin), hostOf(other)] }, {})
    expect(both.text).toBe("arrived")
    expect(both.seen.map(({ headers: sent }) => sent.authorization)).toEqual(["Bearer key", undefined])
    answer = (_request, response) => void response.writeHead(307, { location: "/again" }).end()
    expect((await ask({ path: "/start" }, {})).text).toContain("it redirects again and again")
    answer = (_request, response) => void response.writeHead(302, { location: "file:///etc/passwd" }).end()
    expect((await ask({ path: "/start" }, {})).text).toContain("file: is no protocol for this")
  })

  it("asks no private address unless it may, neither by number nor by name", async () => {
    answer = ok
    const byNumber = await ask({ allowPrivate: false }, {})
    expect(byNumber).toMatchObject({ isError: true, seen: [] })
    expect(byNumber.text).toContain("127.0.0.1, a loopback address")
    const { port } = new URL(origin)
    const named = { url: `http://localhost:${port}/`, allow: [`localhost:${port}`], allowPrivate: false }
    const byName = await ask(named, {})
    expect(byName).toMatchObject({ isError: true, seen: [] })
    expect(byName.text).toContain("a loopback address")
    expect((await ask({ ...named, allowPrivate: true }, {})).text).toBe("ok")
  })

  it("ends by its time and by its signal", async () => {
    answer = () => {}
    const late = await ask({ timeoutMs: 50, path: "/slow?key=s3cret" }, {})
    expect(late).toMatchObject({ isError: true, text: `${origin}/slow did not answer within 50 ms.` })
    const controller = new AbortController()
    answer = () => controller.abort("enough")
    const made = httpTool({
      name: "api",
      description: "d",
      url: origin,
      allow: [hostOf(origin)],
      allowPrivate: true,
    })
    await expect(made.run({}, { signal: controller.signal })).rejects.toBe("enough")
  })

  it.each<[string, object, RegExp]>([
    ["an argument in the host", { url: "https://{id}.example.com/" }, /cannot be used: write http\(s\)/],
    ["a user name", { url: "https://me@example.com/" }, /cannot be used/],
    ["another protocol", { url: "file:///etc/passwd" }, /cannot be used/],
    ["a fragment", { url: "https://example.com/#{id}" }, /cannot be used/],
    ["a host in capitals", { url: "https://Example.com/" }, /write the host as https:\/\/example\.com/],
    ["dots in its path", { url: "https://example.com/a/../{id}" }, /not in its plain form/],
    ["an open brace", { url: "https://example.com/{id" }, /a brace has no partner/],
    ["a name that is none", { url: "https://example.com/{a b}" }, /cannot be used|no name of an argument/],
    [
      "an argument that is none",
      { url: "https://example.com/{name}" },
      /has \{name\}, which is none of its parameters \(id\)/,
    ],
    [
      "a host that is not allowed",
      { url: "https://evil.example/" },
      /evil\.example:443 is not among the hosts/,
    ],
    [
      "the end of a name",
      { url: "https://notexample.com/", allow: ["*.example.com"] },
      /not among the hosts/,
    ],
    ["another port", { url: "https://example.com:8443/" }, /example\.com:8443 is not among the hosts/],
    ["plain http", { url: "http://example.com/" }, /example\.com:80 is not among the hosts/],
    ["no hosts", { allow: [] }, /allow: is empty/],
    [
      "what is no host",
      { allow: ["https://example.com"] },
      /"https:\/\/example\.com" in allow cannot be used/,
    ],
    ["an option that is none", { timeout: 5 }, /timeout is not an option/],
  ])("refuses %s", (_, change, message) => {
    const options = {
      name: "api",
      description: "Asks",
      url: "https://example.com/",
      allow: ["example.com"],
      parameters: z.object({ id: z.string() }),
      ...change,
    }
    expect(failureOf(() => httpTool(options))).toMatch(new RegExp(`^TOOL_INVALID: .*(?:${message.source})`))
  })
})
