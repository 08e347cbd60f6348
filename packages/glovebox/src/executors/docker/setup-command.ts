import type { BlockResult } from "../code-result.ts"
import { runBlock } from "../sandbox/block-run.ts"
import type { DockerOptions } from "./docker-options.ts"
import type { SandboxAgent } from "../sandbox/sandbox-agent.ts"

/** Runs a command of ours, not of the code, in a container that is being set up. */
export async function runSetupCommand(
  agent: SandboxAgent,
  { policy, languages }: Pick<DockerOptions, "policy" | "languages">,
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
