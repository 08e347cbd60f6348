import type { IncomingMessage } from "node:http"
import { describe, expect, it } from "vitest"
import { ESTABLISHED, TestGate, allowList } from "./egress-gate.test-kit.ts"
import { makePlaceholder } from "./index.ts"
import { hello, sni } from "./tls-hello.test-kit.ts"
import { askSecurely, secureServer } from "./tls-servers.test-kit.ts"

const VALUE = "the-value-of-the-test"
const PLACEHOLDER = makePlaceholder(VALUE)
const GET = (port: number, more = "", path = "/x"): string =>
  `GET ${path} HTTP/1.1\r\nHost: allowed.test:${port}\r\n${more}\r\n`

function secretFor(port: number): Parameters<typeof TestGate.for>[3] {
  const hosts = [`allowed.test:${port}`]
  return { secrets: [{ name: "TOKEN", value: VALUE, placeholder: PLACEHOLDER, hosts }] }
}

describe("EgressGate, with an intercepted host", () => {
  it("ends TLS for it, puts the value in, takes it out of the answer, and verifies the server", async () => {
    let seen: IncomingMessage["headers"] = {}
    await using server = await secureServer(({ headers }, response) => {
      seen = headers
      response.end(`you sent ${String(headers["x-key"])}`)
    })
    await using gate = await TestGate.for(server, { intercept: true }, "allowed.test", {
      ...secretFor(server.port),
      ca: server.authorities,
    })
    const { answer, issuer } = await askSecurely(gate, {
      port: server.port,
      ca: gate.gate.certificate,
      text: GET(server.port, `X-Key: ${PLACEHOLDER}\r\n`),
    })
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK/)
    expect(answer).toContain(`you sent ${PLACEHOLDER}`)
    expect(issuer).toBe("Glovebox, for one sandbox")
    expect(seen).toMatchObject({ "x-key": VALUE, host: `allowed.test:${server.port}`, connection: "close" })
    expect(await gate.event("closed")).toMatchObject({
      intercepted: true,
      method: "GET",
      path: "/x",
      rule: `allowed.test:${server.port} (intercepted)`,
      secrets: [{ name: "TOKEN", host: `allowed.test:${server.port}` }],
      ended: "server",
    })
  })

  it.each([
    ["of an unknown authority", {}, false],
    ["for another name", { host: "other.test" }, true],
    ["that is too old", { until: new Date(Date.now() - 60_000) }, true],
  ])("refuses a server with a certificate %s, and sends it nothing", async (_what, options, isKnown) => {
    let requests = 0
    await using server = await secureServer(
      (_request, response) => response.end(String((requests += 1))),
      options,
    )
    await using gate = await TestGate.for(server, { intercept: true }, "allowed.test", {
      ...secretFor(server.port),
      ca: isKnown ? server.authorities : [],
    })
    const { answer } = await askSecurely(gate, {
      port: server.port,
      ca: gate.gate.certificate,
      text: GET(server.port, `X-Key: ${PLACEHOLDER}\r\n`),
    })
    expect(answer).toMatch(/^HTTP\/1\.1 502 [\s\S]*X-Glovebox-Denied: TLS_UNTRUSTED/)
    expect(requests).toBe(0)
    expect(gate.gate.records().connections).toMatchObject([
      {
        verdict: "denied",
        denial: { code: "TLS_UNTRUSTED", resource: `GET https://allowed.test:${server.port}/x` },
      },
    ])
    expect(gate.gate.records().connections[0]?.secrets).toBeUndefined()
  })

  it("holds methods, paths and the host to their rules inside of TLS", async () => {
    await using server = await secureServer((_request, response) => response.end("in"))
    const rule = { intercept: true, methods: ["GET"], paths: ["/open/"] }
    await using gate = await TestGate.for(server, rule, "allowed.test", { ca: server.authorities })
    const ask = async (text: string): Promise<string> =>
      (await askSecurely(gate, { port: server.port, ca: gate.gate.certificate, text })).answer
    expect(await ask(GET(server.port, "", "/open/1"))).toMatch(/200 OK[\s\S]*in$/)
    expect(await ask(GET(server.port))).toContain("X-Glovebox-Denied: PATH")
    const post = `POST /open/1 HTTP/1.1\r\nHost: allowed.test:${server.port}\r\nContent-Length: 0\r\n\r\n`
    expect(await ask(post)).toContain("X-Glovebox-Denied: METHOD")
    expect(await ask("GET /open/1 HTTP/1.1\r\nHost: other.test\r\n\r\n")).toContain("HOST_MISMATCH")
  })

  it("leaves TLS with all other hosts as it is", async () => {
    await using server = await secureServer((_request, response) => response.end("untouched"))
    const port = server.port
    await using gate = await TestGate.start({
      network: {
        allow: [`allowed.test:${port}`, { to: `marked.test:${port}`, intercept: true }],
        allowPrivate: [`127.0.0.1:${port}`],
      },
      ...secretFor(port),
    })
    const { answer, issuer } = await askSecurely(gate, {
      port,
      ca: server.ca,
      text: GET(port, "Connection: close\r\n"),
    })
    expect([answer.endsWith("untouched"), issuer]).toEqual([true, "An authority of the test"])
    expect((await gate.event("closed")).intercepted).toBeUndefined()
  })

  it("has an authority only where it is needed, and another for each gate", async () => {
    await using server = await secureServer(() => {})
    await using plain = await TestGate.for(server)
    await using one = await TestGate.for(server, { intercept: true })
    await using other = await TestGate.for(server, { intercept: true })
    expect(plain.gate.certificate).toBeUndefined()
    expect(one.gate.certificate).toMatch(/^-----BEGIN CERTIFICATE-----/)
    expect(one.gate.certificate).not.toBe(other.gate.certificate)
    await expect(
      askSecurely(one, { port: server.port, ca: other.gate.certificate, text: "" }),
    ).rejects.toThrow(/self[- ]signed|unable to|signature/i)
  })

  it("ends, and is none the worse for, whoever leaves or talks nonsense at any point", async () => {
    await using server = await secureServer(({ url, socket }, response) => {
      response.write("x".repeat(100_000))
      if (url === "/reset") socket.destroy()
      else if (url === "/x") response.end()
    })
    const { port } = server
    await using gate = await TestGate.for(server, { intercept: true }, "allowed.test", {
      ca: server.authorities,
    })
    const before = `CONNECT allowed.test:${port} HTTP/1.1\r\n\r\n`
    const first = hello([sni("allowed.test")])
    for (const bytes of [first, first.subarray(0, 60), Buffer.concat([first, Buffer.from("nonsense")])]) {
      const client = await gate.connect()
      await client.send(before).until(ESTABLISHED)
      client.send(bytes)
      client.socket.destroySoon()
      await client.ended
    }
    const ask = (text: string): Promise<unknown> =>
      askSecurely(gate, { port, ca: gate.gate.certificate, text })
    await ask(GET(port, "", "/reset")).catch(() => {})
    await ask("nonsense\r\n\r\n")
    const opened = gate.events.filter(({ state }) => state === "opened").length
    const held = ask(GET(port, "", "/long")).catch(() => {})
    await gate.event("opened", opened + 1)
    expect(await ask(GET(port))).toMatchObject({ answer: expect.stringMatching(/x{1000}/) })
    // The first, the third, the one that was reset, and this one.
    await gate.event("closed", 4)
    gate.gate.close()
    await gate.event("closed", 5)
    await held
    const ends = gate.gate.records().connections.map(({ ended }) => ended)
    expect(ends).toEqual(["client", "policy", "client", "server", "policy", "closed", "server"])
  })

  it("ends a connection that passed unread when its host is to be read", async () => {
    await using server = await secureServer((_request, response) => void response.write("begun"))
    await using gate = await TestGate.for(server)
    const asked = askSecurely(gate, { port: server.port, ca: server.ca, text: GET(server.port) }).catch(
      () => {},
    )
    await gate.event("opened")
    gate.gate.tighten(
      allowList({
        allow: [{ to: `allowed.test:${server.port}`, intercept: true }],
        allowPrivate: [`127.0.0.1:${server.port}`],
      }),
    )
    expect(await gate.event("closed")).toMatchObject({ denial: { code: "POLICY_TIGHTENED" } })
    await asked
  })
})
