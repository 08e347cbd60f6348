import type { ChosenExecutor } from "../../executors/index.ts"
import { errorMessage } from "../../internal/error-message.ts"
import type { SandboxSessionOptions, SessionInfo } from "../../tools/mcp-server/index.ts"
import type { CommandGovernance } from "../governance/command-governance.ts"
import { McpSession } from "./mcp-session.ts"

export interface McpSessionsOptions {
  readonly governed: CommandGovernance
  readonly openExecutor: (governed: CommandGovernance, workDir: string) => Promise<ChosenExecutor>
  /** What is written down when a session begins. */
  readonly details: Readonly<Record<string, unknown>>
  readonly note: (line: string) => void
  readonly signal: AbortSignal
}

type Hooks = Required<Pick<SandboxSessionOptions, "openExecutor" | "onCall" | "onEnd">>

/** The sessions of a server, each behind the rules. */
export class McpSessions implements Hooks {
  readonly #options: McpSessionsOptions
  readonly #sessions = new Map<string, Promise<McpSession>>()

  constructor(options: McpSessionsOptions) {
    this.#options = options
  }

  readonly openExecutor: Hooks["openExecutor"] = async ({ workDir, session }) => {
    const begun = await this.#of(session)
    return begun.executor(async (governed) => this.#options.openExecutor(governed, workDir))
  }

  readonly onCall: Hooks["onCall"] = async (call, work) => (await this.#of(call.session)).call(call, work)

  /** The server goes on, whatever fails here. */
  readonly onEnd: Hooks["onEnd"] = async ({ id }) => {
    const begun = this.#sessions.get(id)
    this.#sessions.delete(id)
    try {
      await (await begun)?.end()
    } catch (error) {
      this.#options.note(`the end of a session is not in the audit log: ${errorMessage(error)}`)
    }
  }

  // Begun by the first call: before it nobody knows who calls, and there is nothing to tell.
  async #of(session: SessionInfo): Promise<McpSession> {
    const { governed, details, signal } = this.#options
    const known = this.#sessions.get(session.id)
    if (known) return known
    const begun = McpSession.begin(session, governed, { details, signal })
    this.#sessions.set(session.id, begun)
    begun.catch(() => this.#sessions.delete(session.id))
    return begun
  }
}
