import type { SandboxReport } from "../code-result.ts"
import type { SandboxAgent } from "./sandbox-agent.ts"
import type { SandboxEgress } from "./sandbox-egress.ts"

/** What a result says of the sandbox it came from, beside what the executor itself knows. */
type SandboxFacts = Omit<SandboxReport, "kind" | "policySha256" | "isolation" | "pooled">

/** A place whose agent waits for work: a container, a process. */
export interface Sandbox extends AsyncDisposable {
  readonly id: string
  readonly agent: SandboxAgent
  readonly facts: SandboxFacts
  /** Its way out, where the policy has one. */
  readonly egress?: SandboxEgress | undefined
  /** Ends everything in it and removes it; once, however often it is called. */
  destroy(): Promise<void>
}
