import { randomBytes } from "node:crypto"
import { Command, InvalidArgumentError, Option } from "commander"
import type { CreateExecutorOptions, SandboxChoice } from "../executors/index.ts"
import { abortable } from "../internal/abortable.ts"
import { type SandboxPolicy, parseDuration } from "../policy/index.ts"
import {
  SandboxHttpServer,
  type SandboxServerOptions,
  type SandboxSessionOptions,
  serveSandboxStdio,
} from "../tools/mcp-server/index.ts"
import type { CommandOutput } from "./command-output.ts"
import { type Config, loadConfig } from "./config/load-config.ts"
import { type GovernanceFlags, withGovernanceOptions } from "./governance/governance-flags.ts"
import { openGovernance } from "./governance/open-governance.ts"
import { refuseWritableLog } from "./governance/refuse-writable-log.ts"
import { watchInterrupts } from "./interrupts.ts"
import { describeSandbox } from "./mcp-sandbox.ts"
import { mcpApproval } from "./mcp/mcp-approval.ts"
import { McpSessions } from "./mcp/mcp-sessions.ts"
import { ProgressLine } from "./progress-line.ts"
import {
  SANDBOXES,
  type SandboxOptions,
  openExecutor,
  sandboxOption,
  withSandboxOptions,
} from "./sandbox-options.ts"
import { version } from "./version.ts"

interface McpOptions extends Omit<SandboxOptions, "sandbox">, GovernanceFlags {
  readonly sandbox?: Exclude<SandboxChoice, "local">
  readonly config?: string
  readonly approvals?: string
  readonly http?: number
  readonly isolation?: "run" | "session"
  readonly idle: number
  readonly maxSessions: number
}

const TOKEN_VARIABLE = "GLOVEBOX_MCP_TOKEN"
const LONGEST_IDLE_MS = 2 ** 31 - 1

/** `glovebox mcp`: the sandbox for any program that speaks MCP. */
export function mcpCommand(output: CommandOutput): Command {
  const command = new Command("mcp").description(
    "Serve the sandbox by the Model Context Protocol: over stdin and stdout, or on a local port. What code may do is fixed here; a client cannot change it.",
  )
  const sandbox = sandboxOption(
    SANDBOXES.filter((name) => name !== "local"),
    "where to run code (default: auto, which is docker where an engine answers, else wasm)",
  )
  return withGovernanceOptions(withSandboxOptions(command, sandbox))
    .option("--config <file>", "the configuration, with rules for who may do what; none is looked for")
    .option(
      "--approvals <folder>",
      "where somebody answers before code runs that can reach more than deny-all (default: the policy is the answer)",
    )
    .addOption(
      new Option(
        "--isolation <kind>",
        "a fresh sandbox for each call, in which only files stay; or one for the session (default: run)",
      ).choices(["run", "session"]),
    )
    .option("--http <port>", "listen on 127.0.0.1 in place of stdin; 0 for any port", aPort)
    .option("--idle <time>", "how long a session outlives its last call", aTime, 30 * 60_000)
    .option("--max-sessions <count>", "how many sessions there may be with --http", aCount, 8)
    .addHelpText(
      "after",
      `
With --http clients need the token of ${TOKEN_VARIABLE}, or the one that is made up and
printed on stderr. Needs the package @modelcontextprotocol/server.`,
    )
    .action(async (options: McpOptions) => {
      using interrupts = watchInterrupts()
      const { signal } = interrupts
      try {
        await serve(options, output, signal)
      } catch (error) {
        if (!signal.aborted) throw error
      }
      // The usual end of a server is that somebody ends it.
      output.exitCode = 0
    })
}

async function serve(given: McpOptions, output: CommandOutput, signal: AbortSignal): Promise<void> {
  using progress = new ProgressLine(output.stderr)
  const at = { output, progress, signal }
  const note = (line: string): void => output.note(line)
  const config = await configOf(given, signal)
  const options = { ...given, sandbox: given.sandbox ?? config.sandbox ?? "auto" }
  const policySource = sourceOf(given, config)
  const approval = mcpApproval({ folder: given.approvals, policySource, config, note })
  await using governed = await openGovernance({ command: "mcp", options, config, approval }, at)
  // Chosen once, so that what cannot work is said now, and later sessions have the same.
  const asked = given.policy === undefined ? config.policy : undefined
  await using first = await openExecutor(options, moreFor(options, asked), at)
  const { policy } = first
  if (governed.audit) await refuseWritableLog(governed.audit.path, { workDir: options.workDir, policy })
  const { sandbox } = first.describe()
  // Read once too: a file in the work folder could be written by the very callers that it binds.
  const chosen = { ...options, sandbox, policy: undefined, image: undefined, timeout: undefined }
  const place = { ...at, policySource }
  const {
    openExecutor: open,
    onCall,
    onEnd,
  } = new McpSessions({
    governed,
    openExecutor: async (session, workDir) =>
      session.openExecutor({ ...chosen, workDir }, moreFor(chosen, policy), place),
    details: { sandbox, policySha256: policy.sha256 },
    note,
    signal,
  })
  const served: SandboxServerOptions & SandboxSessionOptions = {
    version: version(),
    ...describeSandbox(sandbox, policy, options.isolation ?? "run"),
    openExecutor: open,
    onCall,
    onEnd,
    workDir: options.workDir,
    idleMs: options.idle,
  }
  if (options.http === undefined) await serveSandboxStdio({ ...served, signal })
  else await serveHttp(served, { ...options, port: options.http }, output, signal)
}

// None is looked for: clients start it in folders of theirs.
async function configOf({ config: file }: McpOptions, signal: AbortSignal): Promise<Config> {
  if (file === undefined) return { file: undefined, isNamed: false, policy: undefined }
  return loadConfig({ file, folder: process.cwd(), signal })
}

function sourceOf({ policy }: McpOptions, config: Config): string {
  if (policy !== undefined) return `--policy ${policy}`
  return config.policy === undefined ? "default" : `policy in ${config.file}`
}

async function serveHttp(
  served: SandboxServerOptions & SandboxSessionOptions,
  { port, maxSessions }: { readonly port: number; readonly maxSessions: number },
  output: CommandOutput,
  signal: AbortSignal,
): Promise<void> {
  const given = process.env[TOKEN_VARIABLE]
  const token = given ?? randomBytes(32).toString("base64url")
  await using server = await SandboxHttpServer.start({ ...served, port, token, maxSessions })
  output.note(
    `listening at ${server.url}; the token is ${given === undefined ? token : `that of ${TOKEN_VARIABLE}`}`,
  )
  await abortable(new Promise(() => {}), signal)
}

function moreFor(
  { sandbox, isolation }: { readonly sandbox: SandboxChoice; readonly isolation?: "run" | "session" },
  policy: SandboxPolicy | undefined,
): CreateExecutorOptions {
  const pool = { pool: { size: 1 }, deleteTmpFiles: true }
  // A kernel has one way only.
  const kept = sandbox === "jupyter" ? {} : { isolation }
  const more = { docker: pool, bubblewrap: pool, wasm: pool, jupyter: { deleteTmpFiles: true } }
  return { ...kept, ...more, ...(policy && { policy }) }
}

function aPort(text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError("Write a port from 0 to 65535.")
}

function aCount(text: string): number {
  const count = Number(text)
  if (/^\d+$/.test(text) && count >= 1 && count <= 1024) return count
  throw new InvalidArgumentError("Write a number from 1 to 1024.")
}

function aTime(text: string): number {
  const ms = parseDuration(text)
  if (ms !== undefined && ms > 0 && ms <= LONGEST_IDLE_MS) return ms
  throw new InvalidArgumentError("Write a time such as 30m or 2h, of at most 24 days.")
}
