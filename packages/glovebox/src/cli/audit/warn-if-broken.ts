import {
  type AuditVerification,
  type VerifyAuditLogOptions,
  readAuditLog,
} from "../../governance/audit/index.ts"
import { GloveboxError } from "../../core/index.ts"
import type { CommandOutput } from "../command-output.ts"
import { unreadable } from "./find-log.ts"
import { verifySettled } from "./verify-settled.ts"

/** What is known of a log before its records are shown; undefined when not even its head can be read. */
export async function warnIfBroken(
  path: string,
  output: CommandOutput,
  options: VerifyAuditLogOptions,
): Promise<AuditVerification | undefined> {
  try {
    const verification = await verifySettled(path, options)
    const { broken } = verification
    if (broken) output.note(`warning: this log is not as it was written: ${broken.kind}. ${broken.message}`)
    return verification
  } catch (error) {
    if (!GloveboxError.is(error) || error.code !== "AUDIT_LOG_BROKEN") throw error
    output.note(`warning: this log cannot be verified. ${error.message}`)
    return undefined
  }
}

/** Fails for a log without any record: that nothing fits would say that something had been looked through. */
export async function checkForRecords(path: string, signal: AbortSignal): Promise<void> {
  const records = readAuditLog(path, { signal, onDamage: () => {} })
  const { done } = await records.next()
  await records.return()
  if (done) throw unreadable(`${path} holds no records.`)
}
