import { fileURLToPath } from "node:url"
import type { StdioServerParams } from "./index.ts"

const root = fileURLToPath(new URL("../../../../..", import.meta.url))

/** What the program says when it starts, and what it does, by variables of its environment. */
const SOURCE = `
import { Server } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
const { FAIL, DESCRIPTION = "A tool", SECRET = "" } = process.env
console.error("starting with " + SECRET)
if (FAIL) {
  console.error("cannot read the configuration")
  process.exit(3)
}
const tool = (name) => ({ name, description: DESCRIPTION, inputSchema: { type: "object" } })
const says = (text) => ({ content: [{ type: "text", text }] })
serveStdio(() => {
  const server = new Server({ name: "fixture", version: "1" }, { capabilities: { tools: {} } })
  server.setRequestHandler("tools/list", () => ({ tools: ["pid", "die", "hang", "env"].map(tool) }))
  server.setRequestHandler("tools/call", async ({ params: { name } }) => {
    if (name === "die") process.exit(7)
    if (name === "hang") await new Promise(() => {})
    if (name === "env") return says(Object.keys(process.env).join(","))
    return says(String(process.pid))
  })
  return server
})
`

/** A server of this project, as a process. */
export function ownServer(env: Record<string, string> = {}): StdioServerParams {
  return { command: process.execPath, args: ["--input-type=module", "-e", SOURCE], cwd: root, env }
}

/** The reference server of the protocol's authors, from npm, as a process. */
export function everythingServer(
  transport: "stdio" | "streamableHttp",
): Required<Pick<StdioServerParams, "command" | "args">> {
  const entry = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"))
  return { command: process.execPath, args: [entry, transport] }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
