import type * as ServerPackage from "@modelcontextprotocol/server"
import type { CallToolResult, McpServer, ServerContext } from "@modelcontextprotocol/server"
import { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import { loadPackage } from "../../core/load-package.ts"
import type { CodeBlock } from "../../executors/index.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { describeCodeResult } from "../code-execution/describe-code-result.ts"
import { imagesOf } from "../code-execution/images-of.ts"
import { MOST_LINES, artifact, imageContents, linesOf, outputText, text } from "./file-contents.ts"
import { LiveOutput } from "./live-output.ts"
import type { SandboxSession } from "./sandbox-session.ts"

export interface SandboxServerOptions {
  readonly version: string
  /** What the sandbox is and what code may do in it, for the model. */
  readonly about: string
  /** Languages of `run_code`, the first by default. */
  readonly languages: readonly [string, ...string[]]
  /** Whether there is a shell for `run_shell`. */
  readonly hasShell: boolean
  /** What stays from one call to the next, for the model. */
  readonly lasting: string
  /** Whether code can reach anything outside, for clients that ask the user. @default false */
  readonly hasNetwork?: boolean | undefined
}

const CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
const introduction = z.object({ [CLIENT_INFO]: z.object({ name: z.string() }) })

const path = z.string().describe("Relative to the working directory, such as data/input.csv")

export async function loadServerPackage(): Promise<typeof ServerPackage> {
  return loadPackage(
    "@modelcontextprotocol/server",
    "The MCP server",
    () => import("@modelcontextprotocol/server"),
  )
}

/** An MCP server whose tools work in one session's sandbox. */
export async function makeSandboxServer(
  session: SandboxSession,
  options: SandboxServerOptions,
): Promise<McpServer> {
  const { McpServer: Server } = await loadServerPackage()
  const server = new Server(
    { name: "glovebox", title: "Glovebox sandbox", version: options.version },
    { capabilities: { tools: {} }, instructions: options.about },
  )
  const answer = answerer(server, session)
  addRunTools(server, session, answer, options)
  addFileTools(server, session, answer)
  return server
}

function addRunTools(
  server: McpServer,
  session: SandboxSession,
  answer: Answer,
  { languages, hasShell, lasting, hasNetwork = false }: SandboxServerOptions,
): void {
  const [first] = languages
  // Code can change and remove any file of the session: clients decide by these when to ask the user.
  const annotations = { readOnlyHint: false, destructiveHint: true, openWorldHint: hasNetwork }
  server.registerTool(
    "run_code",
    {
      title: "Run code",
      description: `Run a program (${languages.join(", ")}) in the sandbox and get what it prints, its exit code, the files it made and its images. ${lasting}`,
      inputSchema: z.strictObject({
        code: z.string().min(1).describe("The whole program. Print what you want to see."),
        language: z.enum(languages).default(first),
      }),
      annotations,
    },
    async (args, context) =>
      answer("run_code", args, context, (signal) => run(session, args, { signal, context })),
  )
  if (!hasShell) return
  server.registerTool(
    "run_shell",
    {
      title: "Run a shell command",
      description:
        "Run a command line by sh in the sandbox, in the working directory, and get what it prints and its exit code.",
      inputSchema: z.strictObject({ command: z.string().min(1) }),
      annotations,
    },
    async (args, context) =>
      answer("run_shell", args, context, (signal) =>
        run(session, { code: args.command, language: "sh" }, { signal, context }),
      ),
  )
}

async function run(
  session: SandboxSession,
  block: CodeBlock,
  { signal, context: { mcpReq } }: { readonly signal: AbortSignal; readonly context: ServerContext },
): Promise<CallToolResult> {
  const progressToken = mcpReq._meta?.progressToken
  let progress = 0
  const live = new LiveOutput(async (message) => {
    progress += 1
    if (progressToken === undefined) return
    await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message } })
  })
  try {
    const { result, policy } = await session.run(block, { signal, onOutput: live.push })
    return {
      content: [
        outputText(describeCodeResult(result, policy.fields.limits)),
        ...imageContents(imagesOf(result)),
      ],
      isError: result.exitCode !== 0,
    }
  } finally {
    await live.end()
  }
}

function addFileTools(server: McpServer, session: SandboxSession, answer: Answer): void {
  const readOnly = { readOnlyHint: true, openWorldHint: false }
  server.registerTool(
    "list_files",
    {
      title: "List files",
      description: "List the files of the working directory, with their sizes in bytes.",
      inputSchema: z.strictObject({}),
      annotations: readOnly,
    },
    async (args, context) =>
      answer("list_files", args, context, async (signal) => {
        const { files, more } = await session.withFiles(signal, (all) => all.list())
        const lines = files.map(({ path: name, size }) => `${name}\t${size}`)
        if (lines.length === 0) lines.push("There are no files.")
        return { content: [text([...lines, ...(more ? ["and more"] : [])].join("\n"))] }
      }),
  )
  server.registerTool(
    "read_file",
    {
      title: "Read a text file",
      description: `Read a text file of the working directory, at most ${MOST_LINES} lines at a time. For images and other files use get_artifact.`,
      inputSchema: z.strictObject({
        path,
        offset: z.int().min(0).default(0).describe("The first line, counted from 0"),
        limit: z.int().min(1).max(MOST_LINES).default(MOST_LINES).describe("How many lines"),
      }),
      annotations: readOnly,
    },
    async (args, context) =>
      answer("read_file", args, context, async (signal) => {
        const { path: name, offset, limit } = args
        const content = await session.withFiles(signal, (files) => files.read(name))
        return { content: [text(linesOf(name, content, offset, limit))] }
      }),
  )
  server.registerTool(
    "write_file",
    {
      title: "Write a file",
      description: "Write a file of the working directory, in place of one with this name; folders are made.",
      inputSchema: z.strictObject({
        path,
        content: z.string(),
        encoding: z.enum(["utf8", "base64"]).default("utf8").describe("base64 for files that are no text"),
      }),
      annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
    },
    async (args, context) =>
      answer("write_file", args, context, async (signal) => {
        const { path: name, content, encoding } = args
        const bytes = encoding === "utf8" ? Buffer.from(content) : fromBase64(content)
        const written = await session.withFiles(signal, (files) => files.write(name, bytes))
        return { content: [text(`${written} is written: ${bytes.length} bytes.`)] }
      }),
  )
  server.registerTool(
    "get_artifact",
    {
      title: "Get a file that code made",
      description:
        "Get a file of the working directory as it is: an image as an image, text as text, others as data.",
      inputSchema: z.strictObject({ path }),
      annotations: readOnly,
    },
    async (args, context) =>
      answer("get_artifact", args, context, async (signal) => {
        const { path: name } = args
        const content = await session.withFiles(signal, (files) => files.read(name))
        return { content: [artifact(name, content)] }
      }),
  )
}

type Answer = (
  tool: string,
  args: object,
  context: ServerContext,
  work: (signal: AbortSignal) => Promise<CallToolResult>,
) => Promise<CallToolResult>

function answerer(server: McpServer, session: SandboxSession): Answer {
  return async (tool, args, context, work) => {
    const { signal } = context.mcpReq
    const call = { tool, arguments: args, signal, caller: callerOf(server, context) }
    return inWords(async () =>
      session.call(call, async (until) => {
        const result = await inWords(async () => work(until))
        const notice = session.takeNotice()
        return notice === undefined ? result : { ...result, content: [text(notice), ...result.content] }
      }),
    )
  }
}

// What goes wrong is for the model to read; only an end by the caller is none of its business.
async function inWords(work: () => Promise<CallToolResult>): Promise<CallToolResult> {
  return work().catch((error: unknown): CallToolResult => {
    if (!GloveboxError.is(error)) throw error
    return { content: [text(errorMessage(error))], isError: true }
  })
}

// By newer revisions of the protocol each request says it, by those with sessions the first one.
function callerOf({ server }: McpServer, { mcpReq: { envelope } }: ServerContext): string | undefined {
  const { data } = introduction.safeParse(envelope)
  // oxlint-disable-next-line typescript/no-deprecated -- only for those that say it once
  return data?.[CLIENT_INFO].name ?? server.getClientVersion()?.name
}

function fromBase64(content: string): Buffer {
  if (z.base64().safeParse(content).success) return Buffer.from(content, "base64")
  throw new GloveboxError(
    "WORKSPACE_FAILED",
    "The content is no base64. Encode the file's bytes, or use utf8.",
  )
}
