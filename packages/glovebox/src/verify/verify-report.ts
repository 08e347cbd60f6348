import type { Expectation, Family, Observation, SandboxPath } from "../probes/index.ts"
import type { Tier } from "../policy/index.ts"

export type VerifyMode = "quick" | "standard" | "full"

export interface ProbeReport {
  readonly id: string
  readonly family: Family
  readonly title: string
  readonly expected: Expectation
  readonly observed: Observation
  /** Whether it was observed as the policy expects it. */
  readonly pass: boolean
  /** What was seen. */
  readonly evidence: string
  /** Of a full run: whether the probe sees the attack work where what holds it was taken away. */
  readonly control?: "works" | "broken" | undefined
  /** What was seen there. */
  readonly controlEvidence?: string | undefined
}

/** What a sandbox holds, as it was seen. Plain JSON. */
export interface VerifyReport {
  readonly policySha256: string
  readonly imageDigest: string | undefined
  readonly kernel: string | undefined
  readonly runtime: string | undefined
  readonly engine: string | undefined
  readonly path: SandboxPath
  readonly sandbox: Tier
  readonly image: string | undefined
  readonly mode: VerifyMode
  /** ISO 8601. */
  readonly date: string
  readonly durationMs: number
  /** Whether every probe was observed as the policy expects it. */
  readonly pass: boolean
  readonly probes: readonly ProbeReport[]
}
