import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { type IncomingMessage, type ServerResponse, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import {
  type CallToolResult,
  Server,
  type ServerContext,
  type Tool,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server"
import { sendWebResponse, toWebRequest } from "../mcp-server/node-web.ts"

export interface FixtureTool {
  definition: Omit<Tool, "name" | "inputSchema"> & { readonly inputSchema?: Tool["inputSchema"] }
  readonly call: (
    args: Record<string, unknown>,
    context: ServerContext,
  ) => CallToolResult | Promise<CallToolResult>
}

/** A server on a local port, made with the official library, whose tools a test can change. */
export class FixtureServer implements AsyncDisposable {
  readonly tools: Record<string, FixtureTool>
  readonly headers: (string | undefined)[] = []
  readonly #sessions = new Map<
    string,
    { transport: WebStandardStreamableHTTPServerTransport; server: Server }
  >()
  readonly #http = createServer((request, response) => void this.#answer(request, response))

  private constructor(tools: Record<string, FixtureTool>) {
    this.tools = tools
  }

  static async start(tools: Record<string, FixtureTool>): Promise<FixtureServer> {
    const made = new FixtureServer(tools)
    made.#http.listen(0, "127.0.0.1")
    await once(made.#http, "listening")
    return made
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}/mcp`
  }

  get sessions(): number {
    return this.#sessions.size
  }

  /** Tells clients that the tools are others now. */
  async announceChange(): Promise<void> {
    for (const { server } of this.#sessions.values()) await server.sendToolListChanged()
  }

  /** Forgets every client, as a server does that was started anew. */
  forgetSessions(): void {
    this.#sessions.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#http, "close")
    this.#http.close()
    this.#http.closeAllConnections()
    await closed
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.headers.push(request.headers["authorization"])
    const gone = new AbortController()
    response.once("close", () => gone.abort())
    const id = request.headers["mcp-session-id"]
    const known = typeof id === "string" ? this.#sessions.get(id) : undefined
    if (typeof id === "string" && !known) {
      response.writeHead(404).end()
      return
    }
    try {
      const transport = known?.transport ?? (await this.#begin())
      await sendWebResponse(await transport.handleRequest(toWebRequest(request, gone.signal)), response)
    } catch {
      response.destroy()
    }
  }

  async #begin(): Promise<WebStandardStreamableHTTPServerTransport> {
    const server = new Server(
      { name: "fixture", version: "1" },
      { capabilities: { tools: { listChanged: true } } },
    )
    server.setRequestHandler("tools/list", () => ({
      tools: Object.entries(this.tools).map(([name, { definition }]) => ({
        name,
        inputSchema: { type: "object" as const },
        ...definition,
      })),
    }))
    server.setRequestHandler("tools/call", async ({ params }, context) => {
      const tool = this.tools[params.name]
      if (!tool) throw new Error(`no tool ${params.name}`)
      return tool.call(params.arguments ?? {}, context)
    })
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.#sessions.set(id, { transport, server }),
      onsessionclosed: (id) => void this.#sessions.delete(id),
    })
    await server.connect(transport)
    return transport
  }
}

export function says(text: string): CallToolResult {
  return { content: [{ type: "text", text }] }
}
