import type { Readable, Writable } from "node:stream"
import { finished } from "node:stream/promises"
import { abortable } from "../../internal/abortable.ts"
import { loadPackage } from "../../core/load-package.ts"
import { type SandboxServerOptions, makeSandboxServer } from "./sandbox-server.ts"
import { SandboxSession, type SandboxSessionOptions } from "./sandbox-session.ts"

export interface ServeSandboxStdioOptions extends SandboxServerOptions, SandboxSessionOptions {
  /** @default process.stdin */
  readonly input?: Readable | undefined
  /** Nothing else may be written to it. @default process.stdout */
  readonly output?: Writable | undefined
  /** Ends it, and the sandbox. */
  readonly signal?: AbortSignal | undefined
}

// Base64 of the largest file, and what is around it.
const MOST_MESSAGE = 16 * 1024 ** 2

/** Serves a sandbox by MCP over stdin and stdout, to the program that started this one; ends when that closes stdin. */
export async function serveSandboxStdio(options: ServeSandboxStdioOptions): Promise<void> {
  const { input = process.stdin, output = process.stdout, signal } = options
  const { StdioServerTransport, serveStdio } = await loadPackage(
    "@modelcontextprotocol/server",
    "The MCP server",
    () => import("@modelcontextprotocol/server/stdio"),
  )
  await using session = new SandboxSession(options)
  const transport = new StdioServerTransport(input, output, { maxBufferSize: MOST_MESSAGE })
  const handle = serveStdio(() => makeSandboxServer(session, options), { transport })
  const closed = new Promise<void>((resolve) => {
    const before = transport.onclose
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
    transport.onclose = () => {
      before?.()
      resolve()
    }
  })
  try {
    // It closes by itself after a message that is too large, and when nobody reads its answers.
    await abortable(Promise.race([finished(input, { writable: false }), closed]), signal)
  } catch {
    // Whichever way the other side went, it is the end.
  } finally {
    await handle.close()
  }
}
