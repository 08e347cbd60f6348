import { randomUUID } from "node:crypto"
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server"
import { GloveboxError } from "../../core/index.ts"
import { refuseRequest } from "./http-guard.ts"
import { sendWebResponse, toWebRequest } from "./node-web.ts"
import { type SandboxServerOptions, loadServerPackage, makeSandboxServer } from "./sandbox-server.ts"
import { SandboxSession, type SandboxSessionOptions } from "./sandbox-session.ts"

export interface ServeSandboxHttpOptions extends SandboxServerOptions, SandboxSessionOptions {
  /** On 127.0.0.1; 0 for any that is free. */
  readonly port: number
  /** What callers have to know; at least 16 characters. */
  readonly token: string
  /** How many callers may have a sandbox at a time. @default 8 */
  readonly maxSessions?: number | undefined
}

interface Caller {
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly close: () => Promise<void>
  readonly session: SandboxSession
  timer: NodeJS.Timeout | undefined
}

const PATH = "/mcp"
const MOST_BODY = 12 * 1024 ** 2
const DEFAULT_IDLE_MS = 30 * 60_000

/** Serves sandboxes by MCP over HTTP, to programs of this machine that know the token; each has a sandbox of its own. */
export class SandboxHttpServer implements AsyncDisposable {
  readonly #options: ServeSandboxHttpOptions
  readonly #callers = new Map<string, Caller>()
  readonly #server: Server
  #port = 0
  #making = 0
  #closing: Promise<void> | undefined

  private constructor(options: ServeSandboxHttpOptions) {
    this.#options = options
    this.#server = createServer((request, response) => void this.#answer(request, response))
  }

  static async start(options: ServeSandboxHttpOptions): Promise<SandboxHttpServer> {
    if (options.token.length < 16 || /[^\x21-\x7e]/.test(options.token)) {
      throw new GloveboxError(
        "OPTION_INVALID",
        "The token is too short, or has characters that a header cannot have. Use 16 or more letters and digits.",
      )
    }
    await loadServerPackage()
    const made = new SandboxHttpServer(options)
    await new Promise<void>((resolve, reject) => {
      made.#server.once("error", (cause) =>
        reject(
          new GloveboxError("OPTION_INVALID", `Port ${options.port} cannot be used: ${cause.message}.`, {
            cause,
          }),
        ),
      )
      made.#server.listen(options.port, "127.0.0.1", resolve)
    })
    made.#port = (made.#server.address() as AddressInfo).port
    return made
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}${PATH}`
  }

  /** How many callers have a session. */
  get sessions(): number {
    return this.#callers.size
  }

  /** Ends every session and its sandbox. */
  async close(): Promise<void> {
    this.#closing ??= this.#close()
    await this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    await Promise.all([...this.#callers.keys()].map((id) => this.#end(id)))
    this.#server.closeAllConnections()
    await closed
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController()
    response.once("close", () => gone.abort())
    try {
      const refusal = refuseRequest(request.headers, this.#port, this.#options.token)
      if (refusal) sendError(response, refusal.status, refusal.message)
      else if (new URL(request.url ?? "/", "http://localhost").pathname !== PATH)
        sendError(response, 404, "Use /mcp.")
      else await this.#serve(request, response, gone.signal)
    } catch {
      // The caller has gone, or sent what is no request.
      if (response.headersSent) response.destroy()
      else sendError(response, 400, "The request could not be read.")
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
    // What began now would be ended by nobody.
    if (this.#closing) {
      sendError(response, 503, "The server is ending.")
      return
    }
    const id = request.headers["mcp-session-id"]
    if (typeof id === "string") {
      const caller = this.#callers.get(id)
      // By this answer a caller knows that it has to begin anew.
      if (!caller) sendError(response, 404, "The session has ended. Begin a new one.")
      else await this.#use(id, caller, request, response, signal)
      return
    }
    if (this.#callers.size + this.#making >= (this.#options.maxSessions ?? 8)) {
      sendError(
        response,
        503,
        "There are as many sessions as there may be. End one, or wait until one expires.",
      )
      return
    }
    this.#making += 1
    try {
      await this.#begin(request, response, signal)
    } finally {
      this.#making -= 1
    }
  }

  async #begin(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const { WebStandardStreamableHTTPServerTransport: Transport } = await loadServerPackage()
    // It ends with what is here for its caller, and not before.
    const session = new SandboxSession({ ...this.#options, idleMs: Number.POSITIVE_INFINITY })
    const server = await makeSandboxServer(session, this.#options)
    const close = async (): Promise<void> => {
      await server.close()
      await session[Symbol.asyncDispose]()
    }
    const transport = new Transport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: MOST_BODY,
      onsessioninitialized: async (id) => {
        this.#callers.set(id, { transport, close, session, timer: undefined })
        if (this.#closing) await this.#end(id)
        else this.#watch(id)
      },
      onsessionclosed: (id) => this.#end(id),
    })
    await server.connect(transport)
    try {
      await sendWebResponse(await transport.handleRequest(toWebRequest(request, signal)), response)
    } finally {
      // What did not begin a session, such as a probe, leaves nothing behind.
      if (transport.sessionId === undefined) await server.close()
    }
  }

  async #use(
    id: string,
    caller: Caller,
    request: IncomingMessage,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    // A stream that only waits for news is no sign of life.
    const counts = request.method !== "GET"
    if (counts) this.#watch(id)
    try {
      await sendWebResponse(await caller.transport.handleRequest(toWebRequest(request, signal)), response)
    } finally {
      if (counts) this.#watch(id)
    }
  }

  #watch(id: string): void {
    const caller = this.#callers.get(id)
    if (!caller) return
    clearTimeout(caller.timer)
    // By its calls, and not by its requests: one whose answer never comes would keep it for ever.
    const look = (): void => (caller.session.isBusy ? this.#watch(id) : void this.#end(id))
    caller.timer = setTimeout(look, this.#options.idleMs ?? DEFAULT_IDLE_MS)
    caller.timer.unref()
  }

  async #end(id: string): Promise<void> {
    const caller = this.#callers.get(id)
    if (!caller) return
    this.#callers.delete(id)
    clearTimeout(caller.timer)
    await caller.close()
  }
}

function sendError(response: ServerResponse, status: number, message: string): void {
  const challenge = status === 401 ? { "www-authenticate": "Bearer" } : {}
  response.writeHead(status, { "content-type": "application/json", ...challenge })
  response.end(JSON.stringify({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null }))
}
