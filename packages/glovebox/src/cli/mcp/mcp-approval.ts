/* oxlint-disable unicorn/no-thenable -- here `then` is a word, which no await takes for a promise */
import { type ApprovalGateOptions, type ApprovalRule, FileApprovalQueue } from "../../governance/index.ts"
import { CodeApproval } from "../approval/code-approval.ts"
import type { Config } from "../config/load-config.ts"

export interface McpApprovalOptions {
  /** The folder of --approvals. */
  readonly folder: string | undefined
  /** Where the policy is from, as the log is to name it. */
  readonly policySource: string
  readonly config: Config
  readonly note: (line: string) => void
}

const WIDER: ApprovalRule = { when: { kind: "code", wider: true }, then: "allow" }

/**
 * Who decides on code of MCP clients. A server has nobody to ask: whoever started it with a wider policy has said yes to
 * what that lets code do, unless there is a folder in which somebody answers.
 */
export function mcpApproval({ folder, policySource, config, note }: McpApprovalOptions): ApprovalGateOptions {
  const { choice, gate } = new CodeApproval({ asked: undefined, config, terminal: undefined, note })
  if (choice === "always" || choice === "never") return gate
  if (folder !== undefined) {
    return {
      ...gate,
      provider: new FileApprovalQueue({ folder }),
      onRequest: ({ id, agent }) =>
        note(`${agent} waits for approval ${id}: glovebox approvals answer --folder ${folder}`),
    }
  }
  // Where a rule says that somebody is to be asked, the policy is no answer: nobody is there, so it is denied.
  const { rules = [] } = gate
  if (choice === "ask") return gate
  if (rules.length > 0) return { rules: [...rules, WIDER] }
  return { provider: { name: policySource, ask: async () => ({ decision: "approve", by: policySource }) } }
}
