import type { Command } from "commander"
import type { CodeExecutor } from "../../executors/index.ts"
import type { CommandOutput } from "../command-output.ts"
import type { CommandGovernance } from "./command-governance.ts"
import { type GovernanceFlags, withGovernanceOptions } from "./governance-flags.ts"
import { openGovernance } from "./open-governance.ts"

/** Of commands by which users run code of their own. */
export interface OwnCodeFlags extends GovernanceFlags {
  readonly redact: boolean
}

export function withOwnCodeOptions(command: Command): Command {
  return withGovernanceOptions(command).option(
    "--no-redact",
    "print what the code prints with the secrets in it; the log has none",
  )
}

/** The rules for a user's own code: all of it is written down, and nobody is asked. */
export async function openOwnCode(
  command: string,
  options: OwnCodeFlags,
  at: { readonly output: CommandOutput; readonly signal: AbortSignal },
): Promise<CommandGovernance> {
  const config = { file: undefined, isNamed: false, policy: undefined }
  return openGovernance({ command, options, config, approval: false }, at)
}

/** The executor behind these rules. */
export function ownExecutor(
  { governance }: CommandGovernance,
  executor: CodeExecutor,
  { redact }: OwnCodeFlags,
): CodeExecutor {
  return governance.agent("user").executor(executor, { redaction: redact })
}
