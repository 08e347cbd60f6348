import { describe, expect, it } from "vitest"
import { TestGate, TestServer } from "./egress-gate.test-kit.ts"

describe("EgressGate with a rule of methods and paths", () => {
  const ask = async (gate: TestGate, port: number, method: string, path: string): Promise<string> =>
    gate.ask(`${method} http://allowed.test:${port}${path} HTTP/1.1\r\nHost: allowed.test:${port}\r\n\r\n`)

  it("lets these through, and no others", async () => {
    await using server = await TestServer.http()
    await using gate = await TestGate.for(server, { methods: ["GET", "HEAD"], paths: ["/simple/", "/one"] })
    for (const path of ["/simple/", "/simple/x?y=../..", "/one", "/simple/%41-.a..b/c%20d", "/simple/%c3%a9"])
      expect(await ask(gate, server.port, "GET", path)).toMatch(/^HTTP\/1\.1 200/)
    expect(await ask(gate, server.port, "POST", "/simple/")).toMatch(/^HTTP\/1\.1 403 .*POST is not a method/)
    expect(await ask(gate, server.port, "get", "/simple/")).toContain("Denied: METHOD")
    expect(await ask(gate, server.port, "GET", "/other")).toContain("begins with /one or /simple/")
    expect(gate.gate.records().connections.at(-1)).toMatchObject({
      method: "GET",
      path: "/other",
      denial: { code: "PATH", resource: `GET http://allowed.test:${server.port}/other` },
    })
  })

  it.each([
    "/simple/../admin",
    "/simple/..",
    "/simple/./x",
    "/simple/%2e%2E/admin",
    "/simple/.%2e/admin",
    "/simple/..;/admin",
    "/simple/..%3b/admin",
    "/simple/%252e%252e/admin",
    "/simple/..%2fadmin",
    "/simple/..%5cadmin",
    "/simple/..\\admin",
    "/simple//x",
    "/simple/%00",
    "/simple/%c0%ae%c0%ae/admin",
    "/simple/%c0%afadmin",
    "/simple/%ff",
    "/simple/..%20/admin",
    "/simple/%20../admin",
    "/simple/.../admin",
    "/simple/%ef%bc%8e%ef%bc%8e/admin",
    "/simple/..%ef%bc%8fadmin",
    "/simple/%",
    "/simple/%zz",
    "//simple/",
    "/Simple/",
    "/simple",
    "?/simple/",
  ])("refuses the path %s", async (path) => {
    await using server = await TestServer.http()
    await using gate = await TestGate.for(server, { paths: ["/simple/"] })
    expect(await ask(gate, server.port, "GET", path)).toContain("Denied: PATH")
    expect(server.received).toBe("")
  })

  it.each([
    "X-HTTP-Method-Override",
    "x-http-method",
    "X-Method-Override",
    "X-Original-URL",
    "X-Rewrite-URL",
    "X-Forwarded-Uri",
    "X_HTTP_Method_Override",
    "Content_Length",
  ])("refuses the header %s, by which a server could see another request", async (name) => {
    await using server = await TestServer.http()
    const authority = `allowed.test:${server.port}`
    const request = `GET http://${authority}/a HTTP/1.1\r\nHost: ${authority}\r\n${name}: DELETE\r\n\r\n`
    for (const rule of [{ methods: ["GET"] }, { paths: ["/a"] }]) {
      await using gate = await TestGate.for(server, rule)
      expect(await gate.ask(request)).toContain(`Leave the header ${name} out`)
      expect(gate.denials).toEqual(["UNSUPPORTED"])
    }
    expect(server.received).toBe("")
    await using open = await TestGate.for(server)
    expect(await open.ask(request)).toMatch(/^HTTP\/1\.1 200/)
  })

  it("takes another rule for the same host that allows it", async () => {
    await using server = await TestServer.http()
    const to = `allowed.test:${server.port}`
    await using gate = await TestGate.start({
      network: {
        allow: [
          { to, methods: ["GET"] },
          { to, methods: ["POST"], paths: ["/upload"] },
        ],
        allowPrivate: [`127.0.0.1:${server.port}`],
      },
    })
    expect(await ask(gate, server.port, "GET", "/any")).toMatch(/^HTTP\/1\.1 200/)
    expect(await ask(gate, server.port, "POST", "/upload/x")).toMatch(/^HTTP\/1\.1 200/)
    expect(await ask(gate, server.port, "POST", "/any")).toContain("Denied: PATH")
    expect(gate.gate.records().connections[1]?.rule).toBe(`${to} (POST, "/upload")`)
  })

  it("passes no upgrade, and no TLS", async () => {
    await using server = await TestServer.http()
    await using gate = await TestGate.for(server, { methods: ["GET"] })
    const authority = `allowed.test:${server.port}`
    expect(
      await gate.ask(
        `GET http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      ),
    ).toContain("Denied: UNSUPPORTED")
    expect(server.received).toBe("")
  })
})
