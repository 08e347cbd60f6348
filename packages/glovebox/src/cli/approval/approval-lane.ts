import { GloveboxError } from "../../core/index.ts"
import type { PolicyChange, SandboxPolicy } from "../../policy/index.ts"
import { CommandFailure, EXIT_USAGE } from "../command-failure.ts"
import type { Config } from "../config/load-config.ts"
import type { ApprovalChoice } from "./approval-choice.ts"

export interface ApprovalLaneOptions {
  /** What --approve says. */
  readonly asked: ApprovalChoice | undefined
  readonly config: Config
  readonly policy: SandboxPolicy
  /** Whether there is somebody to ask. */
  readonly isTerminal: boolean
}

/** Whether code waits for a word: behind deny-all it does not, and where it can reach more it does, unless somebody said otherwise. */
export function approvalLane({ asked, config, policy, isTerminal }: ApprovalLaneOptions): ApprovalChoice {
  const reach = reachOf(policy)
  const choice = asked ?? config.approve ?? (reach.length === 0 ? "always" : "ask")
  if (choice === "always" && asked === undefined && reach.length > 0 && !config.isNamed) {
    throw new GloveboxError(
      "CONFIG_INVALID",
      `${config.file ?? "The configuration"}, which was found and not named, asks to run code unasked behind a policy wider than deny-all (${describeReach(reach)}). If you trust it: --config ${config.file ?? "<file>"}, or --approve always`,
    )
  }
  if (choice === "ask" && !isTerminal) {
    const why =
      reach.length === 0
        ? "Each run of code is to be approved"
        : `The policy is wider than deny-all (${describeReach(reach)}), so each run of code is to be approved`
    throw new CommandFailure(
      `${why}, and there is no terminal to ask on. --approve always runs it unasked, --approve never runs none.`,
      { exitCode: EXIT_USAGE },
    )
  }
  return choice
}

/** What code can reach beyond deny-all. More time or memory is no reach. */
export function reachOf(policy: SandboxPolicy): readonly PolicyChange[] {
  return policy.widenings().filter(({ path }) => !path.startsWith("limits."))
}

export function describeReach(reach: readonly PolicyChange[]): string {
  return reach.map(({ path, to }) => `${path}: ${to}`).join("; ")
}
