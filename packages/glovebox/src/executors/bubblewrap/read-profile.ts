import { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import type { ArgumentTest, CallRule, CallRules } from "./call-rules.ts"
import { ALLOW, KILL_PROCESS, failWith } from "./seccomp-filter.ts"
import { type FilterArchitecture, isSyscall } from "./syscall-table.ts"

const EPERM = 1
const WHOLE = 0xffff_ffff_ffff_ffffn
const verdicts: Readonly<Record<string, number>> = {
  SCMP_ACT_ALLOW: ALLOW,
  SCMP_ACT_KILL: 0,
  SCMP_ACT_KILL_THREAD: 0,
  SCMP_ACT_KILL_PROCESS: KILL_PROCESS,
  SCMP_ACT_TRAP: 0x0003_0000,
  SCMP_ACT_LOG: 0x7ffc_0000,
}
const operations: Readonly<Record<string, ArgumentTest["op"]>> = {
  SCMP_CMP_EQ: "equal",
  SCMP_CMP_MASKED_EQ: "equal",
  SCMP_CMP_NE: "not-equal",
  SCMP_CMP_GT: "greater",
  SCMP_CMP_GE: "at-least",
  SCMP_CMP_LT: "less",
  SCMP_CMP_LE: "at-most",
}

const errno = z.int().min(0).max(4095)
const number = z.int().min(0)
const condition = z.object({
  arches: z.array(z.string()).optional(),
  caps: z.array(z.string()).optional(),
  minKernel: z.string().optional(),
})
const profileSchema = z.object({
  defaultAction: z.string(),
  defaultErrnoRet: errno.nullish(),
  architectures: z.array(z.string()).nullish(),
  archMap: z
    .array(z.object({ architecture: z.string(), subArchitectures: z.array(z.string()).nullish() }))
    .nullish(),
  syscalls: z
    .array(
      z.object({
        name: z.string().nullish(),
        names: z.array(z.string()).nullish(),
        action: z.string(),
        errnoRet: errno.nullish(),
        args: z
          .array(
            z.object({
              index: z.int().min(0).max(5),
              value: number,
              valueTwo: number.optional(),
              op: z.string(),
            }),
          )
          .nullish(),
        includes: condition.nullish(),
        excludes: condition.nullish(),
      }),
    )
    .nullish(),
})

type ProfileRule = NonNullable<z.output<typeof profileSchema>["syscalls"]>[number]

/** Reads a profile in Docker's format for a process without capabilities; what has no meaning here is refused. */
export function readProfile(profile: unknown, architecture: FilterArchitecture, kernel: string): CallRules {
  const { data, error } = profileSchema.safeParse(profile)
  if (error) throw refused(`it is not in Docker's format (${error.issues[0]?.path.join(".") ?? ""})`)
  const named = data.architectures ?? data.archMap?.map((entry) => entry.architecture)
  if (named && named.length > 0 && !named.includes(architecture.scmp)) {
    throw refused(`it is not for this processor, ${architecture.scmp}`)
  }
  const otherwise = verdictOf(data.defaultAction, data.defaultErrnoRet)
  const calls = (data.syscalls ?? [])
    .filter((rule) => applies(rule, architecture, kernel))
    .flatMap((rule) => rulesOf(rule, otherwise))
  refuseConflicts(calls)
  return { calls, otherwise }
}

function rulesOf(rule: ProfileRule, otherwise: number): CallRule[] {
  const names = [...(rule.names ?? []), ...(rule.name ? [rule.name] : [])]
  const verdict = verdictOf(rule.action, rule.errnoRet)
  // A name that is not known can be left out only where that refuses more.
  const unknown = names.find((name) => !isSyscall(name))
  if (unknown !== undefined && (otherwise === ALLOW || verdict !== ALLOW)) {
    throw refused(`no number is known for the call ${unknown}`)
  }
  const tests = (rule.args ?? []).map(testOf)
  return names.map((name) => ({ name, tests, verdict }))
}

function testOf({ index, op, value, valueTwo }: NonNullable<ProfileRule["args"]>[number]): ArgumentTest {
  const operation = operations[op]
  if (operation === undefined) throw refused(`it compares by ${op}`)
  // In Docker's form `value` is the mask and `valueTwo` what the masked argument must be.
  if (op === "SCMP_CMP_MASKED_EQ") {
    return { index, op: operation, mask: BigInt(value), value: BigInt(valueTwo ?? 0) }
  }
  return { index, op: operation, mask: WHOLE, value: BigInt(value) }
}

function verdictOf(action: string, errnoRet: number | null | undefined): number {
  if (action === "SCMP_ACT_ERRNO") return failWith(errnoRet ?? EPERM)
  const verdict = verdicts[action]
  if (verdict === undefined) throw refused(`its action ${action} needs someone who watches`)
  return verdict
}

// The sandbox has no capability, so what one would include is left out and what one would exclude stays.
function applies(
  { includes, excludes }: ProfileRule,
  { docker }: FilterArchitecture,
  kernel: string,
): boolean {
  if (includes?.caps && includes.caps.length > 0) return false
  if (includes?.arches && includes.arches.length > 0 && !includes.arches.includes(docker)) return false
  if (includes?.minKernel !== undefined && isOlder(kernel, includes.minKernel)) return false
  if (excludes?.arches?.includes(docker)) return false
  return excludes?.minKernel === undefined || isOlder(kernel, excludes.minKernel)
}

function isOlder(kernel: string, than: string): boolean {
  const [[major = 0, minor = 0], [wantedMajor = 0, wantedMinor = 0]] = [kernel, than].map((text) =>
    text.split(/[.-]/).map(Number),
  ) as [number[], number[]]
  return major < wantedMajor || (major === wantedMajor && minor < wantedMinor)
}

// Which of them would win is different from one implementation to another.
function refuseConflicts(calls: readonly CallRule[]): void {
  const seen = new Map<string, number>()
  for (const { name, verdict } of calls) {
    if (seen.has(name) && seen.get(name) !== verdict) throw refused(`it gives the call ${name} two actions`)
    seen.set(name, verdict)
  }
}

function refused(reason: string): GloveboxError {
  return new GloveboxError(
    "SANDBOX_UNENFORCEABLE",
    `The policy's seccomp profile cannot be enforced here: ${reason}. Use seccomp: strict, or change the profile.`,
  )
}
