/* oxlint-disable unicorn/no-thenable -- here `then` is a word, which no await takes for a promise */
import type { CodeBlock } from "../../executors/index.ts"
import {
  type ApprovalGate,
  type ApprovalGateOptions,
  type ApprovalProvider,
  type ApprovalRule,
  type ApprovalTerminal,
  terminalApproval,
} from "../../governance/index.ts"
import type { SandboxPolicy } from "../../policy/index.ts"
import type { Config } from "../config/load-config.ts"
import type { ApprovalChoice } from "./approval-choice.ts"

export interface CodeApprovalOptions {
  /** What --approve says. */
  readonly asked: ApprovalChoice | undefined
  readonly config: Config
  /** Where somebody can be asked; undefined when nobody is there. */
  readonly terminal: ApprovalTerminal | undefined
  readonly note: (line: string) => void
  /** Who answers where nobody said how. @default whoever is at the terminal */
  readonly answerer?: ApprovalProvider | undefined
}

const NO_CODE = "The user did not approve it. No code may run here; answer without."
const EACH_RUN: ApprovalRule = { when: { kind: "code" }, then: "ask" }

/** Who decides on code, and who is asked. */
export class CodeApproval {
  readonly #options: CodeApprovalOptions
  /** Undefined when nobody said how: behind deny-all code runs, and where it can reach more somebody is asked. */
  readonly choice: ApprovalChoice | undefined
  /** For the gate. */
  readonly gate: ApprovalGateOptions

  constructor(options: CodeApprovalOptions) {
    const { asked, config } = options
    this.#options = options
    this.choice = asked ?? config.approve
    this.gate = { provider: this.#provider(), rules: this.#rules(asked, config.approval?.rules ?? []) }
  }

  /** Whether somebody who can be asked is. */
  get asksPerson(): boolean {
    return this.choice === "ask" || (this.choice === undefined && this.#options.answerer === undefined)
  }

  get hasPerson(): boolean {
    return this.#options.terminal !== undefined
  }

  /** Whether whoever is asked is shown this code, so that nobody else has to show it. */
  shows(gate: ApprovalGate | undefined, agent: string, policy: SandboxPolicy, block: CodeBlock): boolean {
    if (!gate || !this.asksPerson) return false
    return gate.laneOf({ kind: "code", payload: { codeBlocks: [block] }, agent, policy }) === "ask"
  }

  // Whoever says that each run is asked about, or none is to run, means those too that a file allows.
  #rules(asked: ApprovalChoice | undefined, rules: readonly ApprovalRule[]): readonly ApprovalRule[] {
    if (this.choice !== "ask" && this.choice !== "never") return rules
    const isStricter = asked !== undefined || this.choice === "never"
    return [...(isStricter ? rules.filter(({ then }) => then !== "allow") : rules), EACH_RUN]
  }

  #provider(): ApprovalProvider | undefined {
    const { asked, config, terminal, note, answerer } = this.#options
    const by = `${asked === undefined ? "approve:" : "--approve"} ${this.choice}${asked === undefined ? ` in ${config.file}` : ""}`
    switch (this.choice) {
      case "always":
        return { name: by, ask: async () => ({ decision: "approve", by }) }
      case "never":
        return {
          name: by,
          ask: async () => {
            note(`code was not run: ${by}`)
            return { decision: "deny", by, reason: NO_CODE }
          },
        }
      case "ask":
      case undefined:
        if (this.choice === undefined && answerer) return answerer
        return terminal && terminalApproval({ terminal })
      default:
        return this.choice satisfies never
    }
  }
}
