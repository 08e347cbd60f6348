import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type CallToolResult, Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport, getDefaultEnvironment } from "@modelcontextprotocol/client/stdio"
import { bin } from "./glovebox.test-kit.ts"

/** The official client of a `glovebox mcp`. */
export interface McpClient extends AsyncDisposable {
  readonly client: Client
  readonly pid: number | undefined
  call(name: string, args?: Record<string, unknown>): Promise<CallToolResult>
}

export interface StartMcpOptions {
  /** What the client calls itself. */
  readonly name?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Starts `glovebox mcp` as desktop programs do. */
export async function startMcp(...args: string[]): Promise<McpClient> {
  return startMcpAs({}, ...args)
}

export async function startMcpAs(
  { name = "test", env = {} }: StartMcpOptions,
  ...args: string[]
): Promise<McpClient> {
  const client = new Client({ name, version: "1" })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, "mcp", ...args],
    stderr: "ignore",
    env: { ...getDefaultEnvironment(), TMPDIR: process.env["TMPDIR"] ?? "/tmp", ...env },
  })
  await client.connect(transport)
  return asMcpClient(client, transport.pid ?? undefined)
}

export async function connectMcp(
  url: string,
  token: string,
): Promise<McpClient & { readonly end: () => Promise<void> }> {
  const client = new Client({ name: "test", version: "1" })
  const headers = { authorization: `Bearer ${token}` }
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  await client.connect(transport)
  return { ...asMcpClient(client, undefined), end: () => transport.terminateSession() }
}

function asMcpClient(client: Client, pid: number | undefined): McpClient {
  return {
    client,
    pid,
    call: async (name, args = {}) => client.callTool({ name, arguments: args }),
    [Symbol.asyncDispose]: async () => client.close(),
  }
}

/** All text of an answer. */
export function textOf({ content }: CallToolResult): string {
  return content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n")
}

/** The folders of sessions that are there now, of the commands that a test file starts. */
export async function sessionFolders(): Promise<string[]> {
  return (await readdir(temporary)).filter((name) => name.startsWith("glovebox-session-"))
}

let temporary = ""

/** From now on commands have a folder of their own for what is temporary; the result takes it away. */
export async function useOwnTemporaryFolder(): Promise<() => Promise<void>> {
  const before = process.env["TMPDIR"]
  temporary = await mkdtemp(join(tmpdir(), "glovebox-mcp-"))
  process.env["TMPDIR"] = temporary
  return async () => {
    if (before === undefined) delete process.env["TMPDIR"]
    else process.env["TMPDIR"] = before
    await rm(temporary, { recursive: true })
  }
}

/** Python that writes the smallest picture. */
export const MAKE_PICTURE = `
import base64
data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
open("dot.png", "wb").write(base64.b64decode(data))
`
