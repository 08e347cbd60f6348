import type { PolicyInput } from "../policy/index.ts"
import type { ProbeReport, VerifyReport } from "./verify-report.ts"

export const HAS_NO_DOCKER = process.env["GLOVEBOX_TEST_DOCKER"] === "unavailable"

/** Deny-all, with what there is in tests. */
export const POLICY = { image: "glovebox/sandbox:py3", runtime: "runc" } as const satisfies PolicyInput

/** Those that were not as expected, in a form that a failed test shows. */
export function surprises({ probes }: VerifyReport): string[] {
  return probes
    .filter(({ pass }) => !pass)
    .map(({ id, observed, evidence }) => `${id} ${observed}: ${evidence}`)
}

/** Those that could not be shown to be able to fail. */
export function brokenControls({ probes }: VerifyReport): string[] {
  return probes
    .filter(({ expected, control }) => expected === "BLOCKED" && control !== "works")
    .map(({ id, control, controlEvidence }) => `${id} ${control}: ${controlEvidence}`)
}

export function probe({ probes }: VerifyReport, id: string): ProbeReport {
  const found = probes.find((one) => one.id === id)
  if (!found) throw new Error(`There is no probe ${id} in the report.`)
  return found
}
