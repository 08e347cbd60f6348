import { GloveboxError } from "../../core/index.ts"
import type { SandboxAgent } from "./sandbox-agent.ts"
import { type SetupOptions, runSetupCommand } from "./setup-command.ts"

/** Runs the user's own command in a new container, before any code; a failure of it fails the container. */
export async function runInitCommand(
  agent: SandboxAgent,
  options: SetupOptions & { readonly initCommand?: string | undefined },
  signal?: AbortSignal,
): Promise<void> {
  if (options.initCommand === undefined) return
  const ended = signal ? AbortSignal.any([signal, agent.lost]) : agent.lost
  const result = await runSetupCommand(agent, options, ["sh", "-c", options.initCommand], ended)
  if (result.exitCode === 0) return
  throw new GloveboxError(
    "SANDBOX_SETUP_FAILED",
    `The initCommand ended with ${result.exitCode} (${result.termination}): ${result.output.trim().slice(-2000)}`,
  )
}
