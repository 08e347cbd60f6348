/**
 * What came of a probe: the attack was refused, it worked, it could not be tried, or the probe itself failed. Only what
 * the policy expects passes: what could not be tried never counts as held.
 */
export type Observation = "BLOCKED" | "ALLOWED" | "INCONCLUSIVE" | "ERROR"
export const OBSERVATIONS: readonly Observation[] = ["BLOCKED", "ALLOWED", "INCONCLUSIVE", "ERROR"]

/** What a policy promises of an attack. */
export type Expectation = "BLOCKED" | "ALLOWED"

export interface Finding {
  readonly observed: Observation
  /** What was seen, in one line. */
  readonly evidence: string
}

export const blocked = (evidence: string): Finding => ({ observed: "BLOCKED", evidence })
export const allowed = (evidence: string): Finding => ({ observed: "ALLOWED", evidence })
export const inconclusive = (evidence: string): Finding => ({ observed: "INCONCLUSIVE", evidence })
export const failed = (evidence: string): Finding => ({ observed: "ERROR", evidence })

const LONGEST_EVIDENCE = 240
const UNPRINTABLE = /[^\P{C}]/gu

/** The finding with evidence that can be shown anywhere: some of it is the sandbox's own word. */
export function plainFinding({ observed, evidence }: Finding): Finding {
  const line = evidence.replaceAll(/\s+/gu, " ").replaceAll(UNPRINTABLE, "\u{fffd}").trim()
  return {
    observed,
    evidence: line.length > LONGEST_EVIDENCE ? `${line.slice(0, LONGEST_EVIDENCE)}...` : line,
  }
}
