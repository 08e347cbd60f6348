import { readAuditLog } from "../../governance/audit/index.ts"
import { EXIT_FAILED } from "../command-failure.ts"
import type { CommandOutput } from "../command-output.ts"
import { DamageNotes } from "./damage-notes.ts"
import { describeVerification } from "./describe-verification.ts"
import { readFilter } from "./filter-options.ts"
import { findLog } from "./find-log.ts"
import { formatAccount } from "./format-account.ts"
import { runAccounts } from "./run-accounts.ts"
import { type CheckOptions, readCheck } from "./verify-log.ts"
import { checkForRecords, warnIfBroken } from "./warn-if-broken.ts"

export interface ReportOptions extends CheckOptions {
  readonly run?: string
  readonly since?: string
  readonly until?: string
  readonly json?: true
}

/** `glovebox audit report` */
export async function reportRuns(
  file: string | undefined,
  options: ReportOptions,
  output: CommandOutput,
  signal: AbortSignal,
): Promise<void> {
  const { run, since, until, json, ...check } = options
  const filter = readFilter({ ...(since !== undefined && { since }), ...(until !== undefined && { until }) })
  const path = await findLog(file)
  const verification = await warnIfBroken(path, output, await readCheck(check, signal))
  if (!verification?.ok) output.exitCode = EXIT_FAILED
  const write = async (text: string): Promise<void> => output.stdout.write(text, signal)
  if (json)
    await write(
      `{"log":${JSON.stringify(path)},"verification":${JSON.stringify(verification ?? null)},"runs":[`,
    )
  else if (verification) {
    const checked = { hasKey: check.key !== undefined, hasOwnHead: check.head !== undefined }
    await write(`${describeVerification(path, verification, checked).join("\n")}\n`)
  }
  // What was written since is not part of what was verified.
  const end = verification?.ok ? (verification.head?.seq ?? 0) : Infinity
  const damage = new DamageNotes(output)
  const settings = {
    ...filter,
    run,
    where: ({ seq }: { seq: number }) => seq <= end,
    onDamage: damage.add,
    signal,
  }
  let count = 0
  for await (const account of runAccounts(readAuditLog(path, settings))) {
    if (json) await output.stdout.writeWords(`${count > 0 ? "," : ""}\n${JSON.stringify(account)}`, signal)
    else await write(`\n${formatAccount(account).join("\n")}\n`)
    count += 1
  }
  if (json) await write("\n]}\n")
  damage.end()
  if (count > 0) return
  await checkForRecords(path, signal)
  output.note(run === undefined ? "no run is recorded" : `nothing is recorded of run ${run}`)
}
