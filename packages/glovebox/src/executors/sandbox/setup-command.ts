import type { SandboxPolicy } from "../../policy/index.ts"
import type { BlockResult } from "../code-result.ts"
import type { LanguageTable } from "../languages.ts"
import { runBlock } from "./block-run.ts"
import type { SandboxAgent } from "./sandbox-agent.ts"

/** What a command of ours is held to. */
export interface SetupOptions {
  readonly policy: SandboxPolicy
  readonly languages: LanguageTable
}

/** Runs a command of ours, not of the code, in a container that is being set up. */
export async function runSetupCommand(
  agent: SandboxAgent,
  { policy, languages }: SetupOptions,
  argv: readonly string[],
  signal: AbortSignal = agent.lost,
): Promise<BlockResult> {
  const { limits } = policy.fields
  const block = {
    language: languages.lookup("sh"),
    tag: "sh",
    file: "",
    named: false,
    content: new Uint8Array(),
    argv,
  }
  const { result, lost } = await runBlock({
    agent,
    block,
    limits,
    outputBudget: limits.output,
    how: "exec",
    onOutput: () => {},
    signal,
  })
  if (lost) throw lost
  return result
}
