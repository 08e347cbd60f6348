import { existsSync } from "node:fs"
import { request } from "node:http"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { describe, expect, it } from "vitest"
import { SandboxPolicy } from "../../policy/index.ts"
import { SandboxHttpServer, type ServeSandboxHttpOptions, type SessionExecutor } from "./index.ts"

const token = "0123456789abcdef0123"
const headers = { authorization: `Bearer ${token}` }

async function start(options: Partial<ServeSandboxHttpOptions> = {}): Promise<SandboxHttpServer> {
  return SandboxHttpServer.start({
    version: "1",
    about: "A sandbox.",
    languages: ["python"],
    hasShell: false,
    lasting: "",
    port: 0,
    token,
    openExecutor: async () => ({ policy: new SandboxPolicy(), stop: async () => {} }) as SessionExecutor,
    ...options,
  })
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1" })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  return client
}

describe("SandboxHttpServer", () => {
  it("leaves nothing of requests that begin no session", async () => {
    await using server = await start({ maxSessions: 1 })
    for (const body of [
      "",
      "{",
      "[]",
      '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      "x".repeat(13 * 1024 ** 2),
    ]) {
      const { status } = await fetch(server.url, {
        method: "POST",
        headers: {
          ...headers,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body,
      })
      expect(status).toBeGreaterThanOrEqual(400)
    }
    expect(server.sessions).toBe(0)
    const client = await connect(server.url)
    expect(server.sessions).toBe(1)
    await client.close()
  })

  it("answers to a path that only looks like its own with no session", async () => {
    await using server = await start()
    const status = await new Promise((resolve, reject) => {
      const { port } = new URL(server.url)
      request({ host: "127.0.0.1", port, path: "http://[", headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .once("error", reject)
        .end()
    })
    expect(status).toBe(400)
  })

  it("forgets a caller who has a request open whose answer never comes", async () => {
    await using server = await start({ idleMs: 300 })
    const post = async (body: object, id?: string): Promise<Response> =>
      fetch(server.url, {
        method: "POST",
        headers: {
          ...headers,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...(id === undefined ? {} : { "mcp-session-id": id }),
        },
        body: JSON.stringify({ jsonrpc: "2.0", ...body }),
      })
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    }
    const begun = await post({ id: 1, method: "initialize", params })
    const id = begun.headers.get("mcp-session-id") ?? ""
    await begun.text()
    // Two with one id: only one of them has an answer.
    const call = { id: 2, method: "tools/call", params: { name: "list_files", arguments: {} } }
    const texts = await Promise.all([1, 2].map(async () => (await post(call, id)).text().catch(() => "cut")))
    expect(texts.filter((text) => text.includes("There are no files."))).not.toEqual([])
    await expect.poll(() => server.sessions).toBe(0)
  })

  it("ends with its sessions and their sandboxes, and keeps its address", async () => {
    const stopped: string[] = []
    const server = await start({
      openExecutor: async ({ workDir }) =>
        ({ policy: new SandboxPolicy(), stop: async () => void stopped.push(workDir) }) as SessionExecutor,
    })
    const { url } = server
    const client = await connect(url)
    await client.callTool({ name: "list_files", arguments: {} })
    await Promise.all([server.close(), server.close()])
    expect(stopped).toHaveLength(1)
    expect(existsSync(stopped[0] ?? "")).toBe(false)
    expect({ url: server.url, sessions: server.sessions }).toEqual({ url, sessions: 0 })
    await client.close()
  })
})
