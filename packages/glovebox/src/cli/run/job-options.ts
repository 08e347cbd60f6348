import { type Command, InvalidArgumentError, Option } from "commander"
import { APPROVALS, type ApprovalChoice } from "../approval/approval-choice.ts"
import { type GovernanceFlags, withGovernanceOptions } from "../governance/governance-flags.ts"
import { type SandboxOptions, sandboxOption, withSandboxOptions } from "../sandbox-options.ts"
import { JOB_SANDBOXES } from "./job-sandboxes.ts"

export const DEFAULT_TURNS = 20
const MOST_TURNS = 100

/** What `run` and `chat` are both told. */
export interface JobOptions extends Omit<SandboxOptions, "sandbox">, GovernanceFlags {
  readonly sandbox?: SandboxOptions["sandbox"]
  readonly model?: string
  readonly config?: string
  readonly approve?: ApprovalChoice
  readonly maxTurns?: number
}

/** What `run` is told besides. */
export interface RunOptions extends JobOptions {
  readonly json?: true
  readonly out?: string
  readonly file?: readonly string[]
  readonly demo?: true
}

export function withJobOptions(command: Command): Command {
  const sandbox = sandboxOption(
    JOB_SANDBOXES,
    "where its code runs (default: docker where an engine answers, else wasm)",
  )
  const asked = command
    .option("-m, --model <name>", "the model, such as openai/gpt-5-mini or ollama/llama3.2")
    .addOption(
      new Option(
        "--approve <when>",
        "let code run always, never, or after you have seen it (default: ask when the policy is wider than deny-all)",
      ).choices(APPROVALS),
    )
    .option("--max-turns <count>", `how often code may run for a task (default: ${DEFAULT_TURNS})`, aCount)
    .option("--config <file>", "the configuration (default: glovebox.config.yaml, here or above)")
  return withSandboxOptions(withGovernanceOptions(asked), sandbox)
}

function aCount(text: string): number {
  const count = Number(text)
  if (/^\d+$/.test(text) && count >= 1 && count <= MOST_TURNS) return count
  throw new InvalidArgumentError(`Write a number from 1 to ${MOST_TURNS}.`)
}
