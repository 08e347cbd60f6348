import type { ChosenExecutor, CodeExecutor } from "../../executors/index.ts"
import type { Governor, Redactor, RunRecord } from "../../governance/index.ts"
import { SandboxPolicy } from "../../policy/index.ts"
import { textContent } from "../../tools/index.ts"
import type {
  SessionCall,
  SessionExecutor,
  SessionInfo,
  SessionResult,
} from "../../tools/mcp-server/index.ts"
import type { CommandGovernance } from "../governance/command-governance.ts"
import { OneCall } from "./one-call.ts"
import { redactSessionResult, textsOf } from "./redact-result.ts"

/** What one caller's session is bound by: a run of its own in the log, under the name that the caller gives itself. */
export class McpSession {
  readonly #governed: CommandGovernance
  readonly #governor: Governor
  readonly #record: RunRecord

  private constructor(governed: CommandGovernance, governor: Governor, record: RunRecord) {
    this.#governed = governed
    this.#governor = governor
    this.#record = record
  }

  /** Writes down that it begins. @throws what keeps it from the log */
  static async begin(
    { id, caller }: SessionInfo,
    server: CommandGovernance,
    {
      details,
      signal,
    }: { readonly details: Readonly<Record<string, unknown>>; readonly signal: AbortSignal },
  ): Promise<McpSession> {
    const governed = server.another(id)
    const record = await governed.beginRun(undefined, { ...details, client: caller }, signal)
    return new McpSession(governed, governed.governance.agent(agentName(caller)), record)
  }

  /** An executor for the session, behind the rules. */
  async executor(open: (governed: CommandGovernance) => Promise<ChosenExecutor>): Promise<SessionExecutor> {
    const executor = this.#governor.executor(await open(this.#governed))
    if (hasPolicy(executor)) return executor
    throw new TypeError("An executor behind rules lost its policy.")
  }

  /** A call, allowed and written down; what it comes to is what may leave. */
  async call(
    { tool, arguments: args, signal }: SessionCall,
    work: () => Promise<SessionResult>,
  ): Promise<SessionResult> {
    const { redactor } = this.#governed.governance
    let result: SessionResult = { content: [] }
    const call = new OneCall(async (name) => {
      result = clean(await work(), redactor)
      const texts = textsOf(result).map(textContent)
      return { type: "ToolResult", name, result: texts, isError: result.isError === true }
    })
    try {
      await this.#governor.workbench(call).callTool(tool, args, { signal })
    } catch (error) {
      throw error instanceof Error && redactor ? redactor.error(error) : error
    }
    return result
  }

  /** When nothing of it runs any more. @throws what keeps it from the log */
  async end(): Promise<void> {
    await this.#governed[Symbol.asyncDispose]()
    await this.#record.end()
  }
}

function clean(result: SessionResult, redactor: Redactor | undefined): SessionResult {
  return redactor ? redactSessionResult(result, redactor) : result
}

function hasPolicy(executor: CodeExecutor): executor is SessionExecutor {
  return "policy" in executor && executor.policy instanceof SandboxPolicy
}

const LONGEST_NAME = 48

// Rules and logs name it, and whoever calls may call itself anything.
function agentName(caller: string | undefined): string {
  const name = (caller ?? "").replaceAll(/[^\w.-]+/g, "-").slice(0, LONGEST_NAME)
  return /\w/.test(name) ? `mcp:${name}` : "mcp"
}
