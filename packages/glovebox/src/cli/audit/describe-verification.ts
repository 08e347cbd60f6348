import type { AuditVerification } from "../../governance/audit/index.ts"
import { visibleLine } from "../../internal/safe-text.ts"

const NAME_WIDTH = 10

interface CheckedWith {
  readonly hasKey: boolean
  /** Whether the head was kept elsewhere, and not only beside the log. */
  readonly hasOwnHead: boolean
}

/** What was verified, and what was found: a title, and lines under it. */
export function describeVerification(
  path: string,
  verification: AuditVerification,
  checked: CheckedWith,
): string[] {
  const { ok, broken, records, firstAt, lastAt, head, files } = verification
  const range = firstAt === undefined ? "" : `, ${firstAt} to ${lastAt}`
  const rows: [string, string][] = []
  if (broken) {
    const place = broken.file === "" ? `${path}.head` : `${broken.file}, line ${broken.line}`
    rows.push(
      ["broken", `${broken.kind} at record ${broken.seq}`],
      ["place", place],
      ["what", broken.message],
    )
  }
  rows.push(
    ["files", files.length === 0 ? "none" : files.join(", ")],
    [ok ? "records" : "whole", `${records}${ok ? "" : " records before it"}${range}`],
    ["head", head ? `${head.seq}:${head.hash}` : "none"],
    ["end", describeEnd(verification, checked)],
    ["signatures", describeSignatures(verification, checked)],
  )
  return [
    visibleLine(`${path} ${ok ? "is whole." : "is NOT as it was written."}`),
    ...rows.map(([name, value]) => visibleLine(`  ${name.padEnd(NAME_WIDTH)}  ${value}`)),
  ]
}

function describeEnd({ ok, expected }: AuditVerification, { hasOwnHead }: CheckedWith): string {
  if (!expected) return "there is no head: a cut end would not show"
  const head = expected.seq === undefined ? expected.hash : `record ${expected.seq}`
  if (!ok) return `should reach ${head}`
  return hasOwnHead ? `reaches the head that was given, ${head}` : `reaches the head beside the log, ${head}`
}

function describeSignatures(
  { signatures, signedThrough }: AuditVerification,
  { hasKey }: CheckedWith,
): string {
  if (hasKey) return signedThrough === 0 ? "none by this key" : `by this key up to record ${signedThrough}`
  if (signatures === 0) return "none"
  return `${signatures}, which were not checked: --key does`
}
