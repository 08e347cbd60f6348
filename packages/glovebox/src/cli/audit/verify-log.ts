import { stat } from "node:fs/promises"
import type { AuditVerification, VerifyAuditLogOptions } from "../../governance/audit/index.ts"
import { EXIT_FAILED } from "../command-failure.ts"
import type { CommandOutput } from "../command-output.ts"
import { describeVerification } from "./describe-verification.ts"
import { findLog, unreadable } from "./find-log.ts"
import { readAfter, readHead, readText } from "./read-position.ts"
import { verifySettled } from "./verify-settled.ts"

export interface CheckOptions {
  readonly key?: string
  readonly head?: string
  readonly after?: string
}

export interface VerifyLogOptions extends CheckOptions {
  readonly json?: true
}

/** `glovebox audit verify` */
export async function verifyLog(
  file: string | undefined,
  options: VerifyLogOptions,
  output: CommandOutput,
  signal: AbortSignal,
): Promise<void> {
  const check = await readCheck(options, signal)
  // A head without its log is a log that was removed.
  const isEnough = async (path: string): Promise<boolean> => check.head !== undefined || hasHead(path)
  const path = await findLog(file, { isEnough })
  const verification = await verifySettled(path, check)
  if (verification.ok && verification.records === 0) throw unreadable(`${path} holds no records.`)
  print(path, verification, options, output)
  if (!verification.ok) output.exitCode = EXIT_FAILED
}

/** What a log is to be checked against. */
export async function readCheck(
  { key, head, after }: CheckOptions,
  signal: AbortSignal,
): Promise<VerifyAuditLogOptions> {
  return {
    publicKey: key === undefined ? undefined : await readText("--key", key),
    head: head === undefined ? undefined : await readHead(head),
    after: after === undefined ? undefined : readAfter(after),
    signal,
  }
}

function print(
  path: string,
  verification: AuditVerification,
  { json, key, head }: VerifyLogOptions,
  output: CommandOutput,
): void {
  if (json) {
    output.print(JSON.stringify(verification))
    return
  }
  const { ok } = verification
  const [title = "", ...lines] = describeVerification(path, verification, {
    hasKey: key !== undefined,
    hasOwnHead: head !== undefined,
  })
  output.print([output.stdout.style(ok ? "green" : "red", title), ...lines].join("\n"))
}

async function hasHead(path: string): Promise<boolean> {
  return stat(`${path}.head`).then(
    () => true,
    () => false,
  )
}
