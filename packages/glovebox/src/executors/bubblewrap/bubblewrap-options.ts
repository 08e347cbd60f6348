import { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import type { SandboxPolicy } from "../../policy/index.ts"
import { checkModuleName } from "../functions/python-names.ts"
import { type LanguageTable, languageTable } from "../languages.ts"
import { policyOf } from "../sandbox/given-policy.ts"
import { carryLimits, sandboxOptionFields, text } from "../sandbox/option-fields.ts"
import { readOptions } from "../../core/read-options.ts"
import type { SystemSandboxOptions } from "../sandbox/sandbox-options.ts"
import type { WorkspaceLimits } from "../workspace.ts"

export interface BubblewrapCodeExecutorOptions extends SystemSandboxOptions {
  /** A folder with a system of its own, such as debootstrap makes, in the place of this machine's /usr. */
  readonly root?: string | undefined
  /** @default the one in PATH */
  readonly bwrapPath?: string | undefined
  /** A folder of cgroup v2 that this user may write, for the limits; false for none. @default what is found */
  readonly cgroup?: string | false | undefined
}

const path = text.regex(/^\//, "must be an absolute path")

const schema = z.strictObject({
  ...sandboxOptionFields,
  user: z.unknown().optional(),
  seccomp: z.unknown().optional(),
  initCommand: text.optional(),
  root: path.optional(),
  bwrapPath: path.optional(),
  cgroup: z.union([path, z.literal(false)]).optional(),
})

type Parsed = z.output<typeof schema>

export interface BubblewrapOptions extends Omit<
  Parsed,
  | "policy"
  | "languages"
  | "carry"
  | "timeout"
  | "memory"
  | "cpus"
  | "pids"
  | "network"
  | "env"
  | "user"
  | "seccomp"
> {
  readonly policy: SandboxPolicy
  readonly languages: LanguageTable
  readonly carry: WorkspaceLimits | undefined
}

/** Checks the options and gives them their defaults; the shorthands become the policy's. */
export function readBubblewrapOptions(options: BubblewrapCodeExecutorOptions): BubblewrapOptions {
  const data = readOptions("the executor", schema, options)
  checkModuleName(data.functionsModule)
  if (data.workDir !== undefined && data.carry === false) {
    throw new GloveboxError(
      "OPTION_INVALID",
      "workDir was given, and carry: false keeps files from travelling to it. Leave one out.",
    )
  }
  const { network, user, seccomp } = options
  const policy = policyOf(options, { network, user, seccomp })
  return {
    ...data,
    policy,
    languages: languageTable(options.languages),
    carry: data.carry === false ? undefined : carryLimits(data.carry, policy),
  }
}
