import { stat } from "node:fs/promises"
import { setTimeout } from "node:timers/promises"
import {
  type AuditVerification,
  type VerifyAuditLogOptions,
  verifyAuditLog,
} from "../../governance/audit/index.ts"

const LOOK_AGAIN_MS = 100
const MAX_LOOKS = 10

/** Verifies a log that may be written meanwhile: a line without an end may only be on its way. */
export async function verifySettled(
  path: string,
  options: VerifyAuditLogOptions,
): Promise<AuditVerification> {
  for (let look = 1; ; look += 1) {
    const before = await sizeOf(path)
    const verification = await verifyAuditLog(path, options)
    if (verification.broken?.isTorn !== true || look === MAX_LOOKS) return verification
    if ((await sizeOf(path)) !== before) continue
    await setTimeout(LOOK_AGAIN_MS, undefined, { signal: options.signal })
    if ((await sizeOf(path)) === before) return verification
  }
}

async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  )
}
