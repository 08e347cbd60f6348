import type { CallToolResult, Client, Tool } from "@modelcontextprotocol/client"
import { GloveboxError } from "../../core/index.ts"
import { loadPackage } from "../../core/load-package.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { type ReadServerParams, describeServer, redactor } from "./mcp-server-params.ts"
import { type McpTransport, makeTransport } from "./mcp-transport.ts"

export type McpTool = Tool
export type McpResult = CallToolResult

export interface ConnectionOptions {
  readonly params: ReadServerParams
  readonly startTimeoutMs: number
  /** The server says that its tools are others now. */
  readonly onToolsChanged: () => void
  /** It has ended: the next use needs another. */
  readonly onLost: () => void
  readonly signal: AbortSignal
}

const FEATURE = "An MCP workbench"
const PACKAGE = "@modelcontextprotocol/client"

/** One life of a server: from its start to its end, by whatever cause. */
export class McpConnection {
  readonly #client: Client
  readonly #params: ReadServerParams
  readonly #way: McpTransport
  readonly #onLost: () => void
  #isLost = false
  #closing: Promise<void> | undefined

  private constructor(
    client: Client,
    { params, onLost }: Pick<ConnectionOptions, "params" | "onLost">,
    way: McpTransport,
  ) {
    this.#client = client
    this.#params = params
    this.#onLost = onLost
    this.#way = way
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
    client.onclose = () => this.#lose()
  }

  /** Starts or reaches the server; MCP_SERVER_FAILED when it does not answer. */
  static async open(options: ConnectionOptions): Promise<McpConnection> {
    const { params, startTimeoutMs, onToolsChanged, signal } = options
    const { Client } = await loadPackage(PACKAGE, FEATURE, () => import("@modelcontextprotocol/client"))
    const client = new Client(
      { name: "glovebox", version: "1" },
      {
        // Asking a process which protocol it speaks means to start it twice; an address is asked at no cost.
        versionNegotiation: { mode: "command" in params ? "legacy" : "auto" },
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onToolsChanged } },
      },
    )
    const way = await makeTransport(params)
    const connection = new McpConnection(client, options, way)
    try {
      await client.connect(way.transport, { signal, timeout: startTimeoutMs })
      return connection
    } catch (error) {
      await way.transport.close().catch(() => {})
      await connection.close()
      signal.throwIfAborted()
      throw connection.failure("did not start", error)
    }
  }

  async listTools(signal: AbortSignal, timeoutMs: number): Promise<readonly McpTool[]> {
    // For all its pages together: each of them may take the whole time.
    const late = AbortSignal.timeout(timeoutMs)
    const options = {
      signal: AbortSignal.any([signal, late]),
      timeout: timeoutMs,
      cacheMode: "refresh",
    } as const
    try {
      return (await this.#client.listTools(undefined, options)).tools
    } catch (error) {
      signal.throwIfAborted()
      this.#noteLoss(error)
      throw this.failure("does not list its tools", error)
    }
  }

  async callTool(
    tool: McpTool,
    args: Record<string, unknown>,
    {
      signal,
      timeoutMs,
      totalTimeoutMs,
      onProgress,
    }: {
      readonly signal: AbortSignal
      readonly timeoutMs: number
      readonly totalTimeoutMs: number
      readonly onProgress: (message: string) => void
    },
  ): Promise<McpResult> {
    // Not checked against: the result is for a model to read, and a pattern of the server's could take for ever.
    const { outputSchema: _, ...toolDefinition } = tool
    try {
      return await this.#client.callTool(
        { name: tool.name, arguments: args },
        {
          signal,
          timeout: timeoutMs,
          resetTimeoutOnProgress: true,
          maxTotalTimeout: totalTimeoutMs,
          toolDefinition,
          onprogress: ({ progress, total, message }) =>
            onProgress(message ?? (total === undefined ? `${progress}` : `${progress} of ${total}`)),
        },
      )
    } catch (error) {
      signal.throwIfAborted()
      this.#noteLoss(error)
      if (codeOf(error) === "REQUEST_TIMEOUT") {
        const isTotal = errorMessage(error).includes("total")
        throw new GloveboxError(
          "MCP_SERVER_FAILED",
          `Tool ${tool.name} of the MCP server ${describeServer(this.#params)} did not answer within ${isTotal ? totalTimeoutMs : timeoutMs} ms.`,
          { cause: error },
        )
      }
      if (this.#isLost)
        throw this.failure(`ended during the call of ${tool.name}, which may have been done or not`, error)
      throw this.#withoutSecrets(error)
    }
  }

  /** Ends the server, or takes leave of it. */
  async close(): Promise<void> {
    this.#lose()
    this.#closing ??= (async () => {
      await this.#way.leave()
      await this.#client.close().catch(() => {})
    })()
    await this.#closing
  }

  /** An error that tells what the server wrote last, without secrets. */
  failure(what: string, cause: unknown): GloveboxError {
    const hide = redactor(this.#params)
    const wrote = this.#way.stderr().trim()
    return new GloveboxError(
      "MCP_SERVER_FAILED",
      hide(
        `The MCP server ${describeServer(this.#params)} ${what}: ${reasonOf(cause)}.${wrote === "" ? "" : ` It wrote: ${wrote}`}`,
      ),
      // What the error holds may be secret too, such as an address with a key.
      { cause: new Error(hide(reasonOf(cause))) },
    )
  }

  // A server may tell what it was sent, such as a header that it does not like.
  #withoutSecrets(error: unknown): unknown {
    const reason = reasonOf(error)
    const hidden = redactor(this.#params)(reason)
    return hidden === reason ? error : new Error(hidden)
  }

  #lose(): void {
    this.#isLost = true
    this.#onLost()
  }

  // A server by HTTP does not say that it ends: its answers do.
  #noteLoss(error: unknown): void {
    const status = error instanceof Error && "status" in error ? error.status : undefined
    const isGone =
      status === 404 || ["CONNECTION_CLOSED", "NOT_CONNECTED", "SEND_FAILED"].includes(codeOf(error))
    if (!isGone && !(error instanceof TypeError && error.message === "fetch failed")) return
    void this.close()
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : ""
}

// What went wrong first is the deepest.
function reasonOf(error: unknown): string {
  const reasons: string[] = []
  for (
    let at = error;
    at !== undefined && reasons.length < 5;
    at = at instanceof Error ? at.cause : undefined
  ) {
    const text = errorMessage(at).replace(/\.$/, "")
    if (text !== "" && !reasons.some((reason) => reason.endsWith(text))) reasons.push(text)
  }
  return reasons.join(": ")
}
