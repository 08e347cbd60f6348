import { once } from "node:events"
import { type RequestListener, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { toolResultText } from "../index.ts"
import { FixtureServer, type FixtureTool, says } from "./fixture-server.test-kit.ts"
import { hostileServer } from "./hostile-server.test-kit.ts"
import { McpWorkbench, type McpWorkbenchOptions } from "./index.ts"

function workbenchOf(
  env: Parameters<typeof hostileServer>[0],
  options: Partial<McpWorkbenchOptions> = {},
): McpWorkbench {
  return new McpWorkbench({ server: hostileServer(env), ...options })
}

async function listening(answer: RequestListener): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer(answer)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, "close")
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

describe("McpWorkbench and a process that", () => {
  it("never answers: each wait has an end", async () => {
    const quick = { startTimeoutMs: 300, timeoutMs: 300 }
    await using silent = workbenchOf({ INIT: ";" }, quick)
    await expectFailure(silent.listTools(), "MCP_SERVER_FAILED", /did not start/)
    await using listless = workbenchOf({ LIST: ";" }, { timeoutMs: 300 })
    await expectFailure(listless.listTools(), "MCP_SERVER_FAILED", /does not list its tools/)
  })

  it("lists for ever: all pages together have one time", async () => {
    const LIST =
      "setTimeout(() => send({ id, result: { tools: [{ name: 't' + id, inputSchema: { type: 'object' } }], nextCursor: 'c' + id } }), 100)"
    await using workbench = workbenchOf({ LIST }, { timeoutMs: 500 })
    await expectFailure(workbench.listTools(), "MCP_SERVER_FAILED", /does not list its tools/)
  })

  it("shows progress for ever: a call has an end all the same", async () => {
    const CALL =
      "setInterval(() => send({ method: 'notifications/progress', params: { progressToken: params._meta.progressToken, progress: Date.now(), message: 'x'.repeat(20000) } }), 20)"
    await using workbench = workbenchOf({ CALL }, { timeoutMs: 5_000, totalTimeoutMs: 500 })
    const lengths: number[] = []
    let text = ""
    for await (const item of workbench.callToolStream("act")) {
      if (item.type === "ToolResult") text = toolResultText(item)
      else lengths.push(item.content.type === "TextResultContent" ? item.content.content.length : -1)
    }
    expect(text).toContain("did not answer within 500 ms")
    expect(Math.max(...lengths)).toBe(10_000)
  })

  it("writes a message without end, or garbage: the call fails, and the next life works", async () => {
    const CALL =
      "const flood = () => process.stdout.write('x'.repeat(1 << 20), (error) => error || flood()); if (params.arguments.flood) flood(); else says(id, 'fine')"
    await using workbench = workbenchOf({ CALL }, { timeoutMs: 20_000 })
    const flooded = await workbench.callTool("act", { flood: true })
    expect(flooded.isError).toBe(true)
    expect(toolResultText(await workbench.callTool("act"))).toBe("fine")
  })

  it("answers what was not asked: only the call's own id counts", async () => {
    const CALL =
      "for (const other of [id + 1, -1, 'x', null]) says(other, 'wrong'); process.stdout.write('{{{\\n[]\\nnull\\n'); says(id, 'right')"
    await using workbench = workbenchOf({ CALL })
    expect(toolResultText(await workbench.callTool("act"))).toBe("right")
  })

  it("answers with what is no result", async () => {
    const CALL = "send({ id, result: { content: 'text' } })"
    await using workbench = workbenchOf({ CALL })
    expect(await workbench.callTool("act")).toMatchObject({ isError: true })
  })

  it("has names and schemas that are traps", async () => {
    const LIST = `process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":{"tools":[' + ['__proto__', 'constructor', 'toString'].map((name) => '{"name":"' + name + '","inputSchema":{"type":"object","properties":{"__proto__":{"type":"string"}},"__proto__":{"polluted":true}}}').join() + ']}}\\n')`
    await using workbench = workbenchOf({ LIST, CALL: "says(id, JSON.stringify(params))" })
    expect((await workbench.listTools()).map(({ name }) => name)).toEqual([
      "__proto__",
      "constructor",
      "toString",
    ])
    const args = JSON.parse('{"__proto__":{"admin":true}}') as unknown
    expect(toolResultText(await workbench.callTool("__proto__", args))).toContain(
      '{"__proto__":{"admin":true}}',
    )
    expect(await workbench.callTool("valueOf")).toMatchObject({ isError: true })
    expect({}).not.toHaveProperty("polluted")
    const state = await workbench.saveState()
    await workbench.loadState(JSON.parse(JSON.stringify(state)) as typeof state)
    // The first has no place in a record, so it has no pin, and is not offered.
    expect((await workbench.listTools()).map(({ name }) => name)).toEqual(["constructor", "toString"])
  })

  it("has a schema too deep to read", async () => {
    const LIST =
      'process.stdout.write(\'{"jsonrpc":"2.0","id":\' + id + \',"result":{"tools":[{"name":"act","inputSchema":{"type":"object","properties":{"a":\' + \'{"a":\'.repeat(50000) + \'1\' + \'}\'.repeat(50000) + \'}}}]}}\\n\')'
    await using workbench = workbenchOf({ LIST }, { timeoutMs: 5_000 })
    await expectFailure(workbench.listTools(), "MCP_SERVER_FAILED")
  })

  it("promises data by a pattern that takes for ever", async () => {
    const LIST =
      "send({ id, result: { tools: [{ name: 'act', inputSchema: { type: 'object' }, outputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } } }] } })"
    const CALL =
      "send({ id, result: { content: [{ type: 'text', text: 'fine' }], structuredContent: { a: 'a'.repeat(60) + '!' } } })"
    await using workbench = workbenchOf({ LIST, CALL })
    expect(toolResultText(await workbench.callTool("act"))).toBe("fine")
  })
})

describe("McpWorkbench and a server by HTTP that", () => {
  it("accepts and never answers", async () => {
    await using server = await listening(() => {})
    await using workbench = new McpWorkbench({ server: { url: server.url }, startTimeoutMs: 300 })
    await expectFailure(workbench.listTools(), "MCP_SERVER_FAILED", /did not start/)
  })

  it("answers without end", async () => {
    await using server = await listening((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      const flood = (): void => void response.write(" ".repeat(1 << 20), (error) => error || flood())
      flood()
    })
    await using workbench = new McpWorkbench({ server: { url: server.url }, startTimeoutMs: 20_000 })
    await expectFailure(workbench.listTools(), "MCP_SERVER_FAILED", /did not start/)
  })

  it("tells what it was sent: secrets are in no error", async () => {
    const key = "s3cr3t+k/ey=="
    const url = (base: string): string => `${base}/0123456789abcdef0123?key=${encodeURIComponent(key)}`
    await using refusing = await listening((request, response) => {
      response.writeHead(500).end(`bad request ${request.url} ${request.headers["x-api-key"] as string}`)
    })
    const server = { url: url(refusing.url), headers: { "x-api-key": key } }
    await using workbench = new McpWorkbench({ server })
    const failure = await expectFailure(workbench.listTools(), "MCP_SERVER_FAILED")
    const told = `${failure.message} ${String(failure.cause)}`
    for (const secret of [key, encodeURIComponent(key), "0123456789abcdef"])
      expect(told).not.toContain(secret)

    const echo: FixtureTool = {
      definition: {},
      call: () => {
        throw new Error(`no such key: ${key}`)
      },
    }
    await using fixture = await FixtureServer.start({ echo })
    await using strict = new McpWorkbench({ server: { url: fixture.url, headers: { "x-api-key": key } } })
    const result = await strict.callTool("echo")
    expect(result.isError).toBe(true)
    expect(toolResultText(result)).toMatch(/no such key: \[redacted\]/)
  })

  it("keeps sessions is told when one ends", async () => {
    const echo: FixtureTool = { definition: {}, call: () => says("hi") }
    await using server = await FixtureServer.start({ echo })
    const workbench = new McpWorkbench({ server: { url: server.url } })
    await workbench.callTool("echo")
    expect(server.sessions).toBe(1)
    await workbench.stop()
    expect(server.sessions).toBe(0)
  })
})
