import { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import type { PolicyInput, SandboxPolicy } from "../../policy/index.ts"
import type { PythonFunction } from "../functions/python-function.ts"
import { checkModuleName } from "../functions/python-names.ts"
import { type LanguageOptions, type LanguageTable, languageTable } from "../languages.ts"
import { type PolicyShorthands, policyOf } from "../sandbox/given-policy.ts"
import { carryLimits, sandboxOptionFields, text } from "../sandbox/option-fields.ts"
import { readOptions } from "../sandbox/read-options.ts"
import type { WorkspaceLimits } from "../workspace.ts"

export interface BubblewrapCodeExecutorOptions extends PolicyShorthands {
  readonly network?: PolicyInput["network"]
  readonly user?: string | undefined
  readonly seccomp?: PolicyInput["seccomp"]
  /** A fresh sandbox for each call, or one for the executor's life. @default "run" */
  readonly isolation?: "run" | "session" | undefined
  /** Python by fork of an interpreter that is ready, or started anew. @default "ready" */
  readonly interpreter?: "ready" | "fresh" | undefined
  /** Sandboxes that wait, ready; false for none. @default { size: 2, idleLease: "5m" } */
  readonly pool?:
    | false
    | { readonly size?: number | undefined; readonly idleLease?: string | number | undefined }
    | undefined
  /** How many calls run at a time; others wait their turn. @default 4 */
  readonly concurrency?: number | undefined
  /** Languages to add or replace. */
  readonly languages?: Readonly<Record<string, LanguageOptions>> | undefined
  /** A folder of the host whose files go in, and into which changed files come out. @default memory */
  readonly workDir?: string | undefined
  /** Files carried between calls and given as artifacts; false for none. @default { maxBytes: "64MiB", maxFiles: 4096 } */
  readonly carry?:
    | false
    | { readonly maxBytes?: string | number | undefined; readonly maxFiles?: number | undefined }
    | undefined
  /** Whether files of code without a name of their own are removed after the call. @default false */
  readonly deleteTmpFiles?: boolean | undefined
  /** Python functions that the code can import; packages of theirs must be in the tree. */
  readonly functions?: readonly PythonFunction[] | undefined
  /** @default "functions" */
  readonly functionsModule?: string | undefined
  /** A shell command that runs once in each sandbox, before any code. */
  readonly initCommand?: string | undefined
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
  const data = readOptions(schema, options)
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
