import { GloveboxError } from "../../core/index.ts"
import type { DockerOptions } from "./docker-options.ts"
import { runBlock } from "./block-run.ts"
import type { SandboxAgent } from "./sandbox-agent.ts"

/** Runs the user's own command in a new container, before any code; a failure of it fails the container. */
export async function runInitCommand(agent: SandboxAgent, options: DockerOptions): Promise<void> {
  const { limits } = options.policy.fields
  const command = options.initCommand ?? ":"
  const { result, lost } = await runBlock({
    agent,
    block: {
      language: options.languages.lookup("sh"),
      tag: "sh",
      file: "",
      named: false,
      content: new Uint8Array(),
      argv: ["sh", "-c", command],
    },
    limits,
    outputBudget: limits.output,
    how: "exec",
    onOutput: () => {},
    signal: agent.lost,
  })
  if (lost) throw lost
  if (result.exitCode === 0) return
  throw new GloveboxError(
    "SANDBOX_SETUP_FAILED",
    `The initCommand ended with ${result.exitCode} (${result.termination}): ${result.output.trim().slice(-2000)}`,
  )
}
