import { GloveboxError } from "../../core/index.ts"
import type { ApprovalGate } from "../../governance/index.ts"
import type { PolicyChange, SandboxPolicy } from "../../policy/index.ts"
import { CommandFailure, EXIT_USAGE } from "../command-failure.ts"
import type { Config } from "../config/load-config.ts"
import type { CodeApproval } from "./code-approval.ts"

export interface CheckApprovalOptions {
  readonly approval: CodeApproval
  readonly gate: ApprovalGate | undefined
  readonly config: Config
  readonly policy: SandboxPolicy
  readonly agent: string
  /** What --approve says. */
  readonly asked: string | undefined
}

/** Before anything is paid for: that what must be asked can be, and that no file that was only found opens the sandbox. */
export function checkApproval(options: CheckApprovalOptions): void {
  const { approval, gate, config, policy, asked, agent } = options
  const reach = reachOf(policy)
  if (approval.choice === "always" && asked === undefined && reach.length > 0 && !config.isNamed) {
    throw new GloveboxError(
      "CONFIG_INVALID",
      `${config.file ?? "The configuration"}, which was found and not named, asks to run code unasked behind a policy wider than deny-all (${describeReach(reach)}). If you trust it: --config ${config.file ?? "<file>"}, or --approve always`,
    )
  }
  if (approval.hasPerson || !approval.shows(gate, agent, policy, { language: "python", code: "" })) return
  const why =
    reach.length === 0
      ? "Each run of code is to be approved"
      : `The policy is wider than deny-all (${describeReach(reach)}), so each run of code is to be approved`
  throw new CommandFailure(
    `${why}, and there is no terminal to ask on. --approve always runs it unasked, --approve never runs none.`,
    { exitCode: EXIT_USAGE },
  )
}

// More time or memory is no reach.
function reachOf(policy: SandboxPolicy): readonly PolicyChange[] {
  return policy.widenings().filter(({ path }) => !path.startsWith("limits."))
}

function describeReach(reach: readonly PolicyChange[]): string {
  return reach.map(({ path, to }) => `${path}: ${to}`).join("; ")
}
