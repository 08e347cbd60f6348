import type { AuditRecord } from "../../governance/audit/index.ts"

const BAD: Readonly<Record<string, readonly unknown[]>> = {
  phase: ["failed"],
  isError: [true],
  outcome: ["failed"],
  verdict: ["denied"],
  decision: ["denied", "expired", "refused"],
  action: ["strip", "block"],
  event: ["failed", "lost", "write-recovered", "torn-line"],
}

/** Whether something was refused, or went wrong. */
export function isDenied({ kind, data }: Pick<AuditRecord, "kind" | "data">): boolean {
  if (kind === "access-denied") return true
  // What a user's own records mean nobody can tell.
  if (kind === "custom") return false
  if (Object.entries(BAD).some(([name, values]) => values.includes(data[name]))) return true
  const { exitCode, termination, limitsHit } = data
  return (
    kind === "code-run" &&
    ((typeof exitCode === "number" && exitCode !== 0) ||
      (typeof termination === "string" && termination !== "exit") ||
      (Array.isArray(limitsHit) && limitsHit.length > 0))
  )
}
