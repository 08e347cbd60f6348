import type { Transport } from "@modelcontextprotocol/client"
import { boundedFetch } from "./bounded-fetch.ts"
import { type ReadServerParams, longestSecret, redactor } from "./mcp-server-params.ts"

export interface McpTransport {
  readonly transport: Transport
  /** What the server wrote last that was no message, without secrets. */
  readonly stderr: () => string
  /** Tells the server that nobody comes back. */
  readonly leave: () => Promise<void>
}

const STDERR_KEPT = 2_000
const LEAVE_MS = 1_000
// Base64 of the largest file that is worth it.
const MOST_MESSAGE = 16 * 1024 ** 2

/** The way to a server, not yet taken. */
export async function makeTransport(params: ReadServerParams): Promise<McpTransport> {
  return "url" in params ? httpTransport(params) : stdioTransport(params)
}

async function httpTransport(params: Extract<ReadServerParams, { url: string }>): Promise<McpTransport> {
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client")
  const transport = new StreamableHTTPClientTransport(new URL(params.url), {
    requestInit: { headers: params.headers },
    fetch: boundedFetch(MOST_MESSAGE),
  })
  const leave = async (): Promise<void> => {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, LEAVE_MS)))
    // A server that has gone, or forgotten the session, needs no leave.
    await Promise.race([transport.terminateSession().catch(() => {}), late])
    clearTimeout(timer)
  }
  return { transport, stderr: () => "", leave }
}

async function stdioTransport(params: Extract<ReadServerParams, { command: string }>): Promise<McpTransport> {
  const { StdioClientTransport, getDefaultEnvironment } = await import("@modelcontextprotocol/client/stdio")
  const { command, args, env, cwd } = params
  const transport = new StdioClientTransport({
    command,
    args,
    env: { ...getDefaultEnvironment(), ...env },
    stderr: "pipe",
    maxBufferSize: MOST_MESSAGE,
    ...(cwd === undefined ? {} : { cwd }),
  })
  const hide = redactor(params)
  // Hidden before it is cut: half a secret would not be known again.
  const kept = STDERR_KEPT + longestSecret(params)
  let wrote = ""
  transport.stderr?.on("data", (chunk: Buffer) => {
    wrote = hide(`${wrote}${chunk.toString()}`).slice(-kept)
  })
  return { transport, stderr: () => wrote.slice(-STDERR_KEPT), leave: async () => {} }
}
