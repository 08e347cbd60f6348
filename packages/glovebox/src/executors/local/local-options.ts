import { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import { type PolicyInput, type SandboxPolicy, checkTier } from "../../policy/index.ts"
import type { PythonFunction } from "../functions/python-function.ts"
import { checkModuleName } from "../functions/python-names.ts"
import { type LanguageOptions, type LanguageTable, languageTable } from "../languages.ts"
import { policyOf } from "../sandbox/given-policy.ts"
import { sandboxOptionFields, text } from "../sandbox/option-fields.ts"
import { readOptions } from "../../core/read-options.ts"
import type { WorkspaceLimits } from "../workspace.ts"
import { checkHostPolicy } from "./check-host-policy.ts"
import { hostRefused } from "./host-refused.ts"
import type { VirtualEnvContext } from "./virtual-env-context.ts"

export interface LocalCommandLineCodeExecutorOptions {
  /** Must be true: the code runs as this process's user, with all its rights and no wall. */
  readonly dangerouslyRunOnHost: true
  /** Of its fields only `limits.wall`, `limits.output` and `env` hold here; what else it asks for is refused. */
  readonly policy?: SandboxPolicy | PolicyInput | undefined
  /** How long a block may run, as "60s" or in milliseconds. @default the policy's, "60s" */
  readonly timeout?: string | number | undefined
  /** Variables for the code; of the host's own, only harmless ones are passed. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** The folder that the code runs in. @default one of its own, from start to stop */
  readonly workDir?: string | undefined
  /** What `createVirtualEnvironment()` gives. */
  readonly virtualEnvContext?: VirtualEnvContext | undefined
  /** Python functions that the code can import; packages they need are installed into the virtual environment. */
  readonly functions?: readonly PythonFunction[] | undefined
  /** @default "functions" */
  readonly functionsModule?: string | undefined
  /** Whether files of code without a name of their own are removed after the call. @default true */
  readonly cleanupTempFiles?: boolean | undefined
  /** Languages to add or replace. */
  readonly languages?: Readonly<Record<string, LanguageOptions>> | undefined
  /** How many calls run at a time, in one folder. @default 4 */
  readonly concurrency?: number | undefined
  /** Changed files that are given as artifacts; false for none. @default { maxBytes: "64MiB", maxFiles: 4096 } */
  readonly carry?:
    | false
    | { readonly maxBytes?: string | number | undefined; readonly maxFiles?: number | undefined }
    | undefined
}

const { policy, timeout, env, workDir, functions, functionsModule, languages, concurrency, carry } =
  sandboxOptionFields
const schema = z.strictObject({
  dangerouslyRunOnHost: z.boolean().optional(),
  policy,
  timeout,
  env,
  workDir,
  virtualEnvContext: z.object({ binPath: text, envExe: text, envDir: text }).optional(),
  functions,
  functionsModule,
  cleanupTempFiles: z.boolean().default(true),
  languages,
  concurrency,
  carry,
})

export interface LocalOptions {
  readonly policy: SandboxPolicy
  readonly workDir: string | undefined
  readonly virtualEnv: VirtualEnvContext | undefined
  readonly functions: readonly PythonFunction[]
  readonly functionsModule: string
  readonly cleanupTempFiles: boolean
  readonly languages: LanguageTable
  /** Names of languages whose command is the user's own. */
  readonly replaced: ReadonlySet<string>
  readonly concurrency: number
  readonly carry: WorkspaceLimits | undefined
}

// What users of AutoGen would write.
const OTHER_NAMES: Readonly<Record<string, string>> = {
  virtual_env_context: "virtualEnvContext",
  cleanup_temp_files: "cleanupTempFiles",
  environment: "env",
}

/** Checks the options and gives them their defaults; refuses without the word that says what this is. */
export function readLocalOptions(options: LocalCommandLineCodeExecutorOptions): LocalOptions {
  // Whoever passes nothing at all is to hear what this is, too.
  const data = readOptions("the executor", schema, options ?? {}, { otherNames: OTHER_NAMES })
  if (data.dangerouslyRunOnHost !== true) throw hostRefused()
  checkModuleName(data.functionsModule)
  const table = languageTable(options.languages)
  checkPackages(data.functions, data.virtualEnvContext)
  return {
    policy: hostPolicy(options),
    workDir: data.workDir,
    virtualEnv: data.virtualEnvContext,
    functions: data.functions,
    functionsModule: data.functionsModule,
    cleanupTempFiles: data.cleanupTempFiles,
    languages: table,
    replaced: new Set(Object.keys(options.languages ?? {}).map((name) => table.lookup(name).name)),
    concurrency: data.concurrency,
    carry: data.carry === false ? undefined : data.carry,
  }
}

// Into the host's own Python nothing is ever installed.
function checkPackages(
  functions: readonly PythonFunction[],
  virtualEnv: VirtualEnvContext | undefined,
): void {
  const needy = functions.filter(({ pythonPackages }) => pythonPackages.length > 0)
  if (needy.length === 0 || virtualEnv) return
  const needs = needy.map(({ name, pythonPackages }) => `${name} needs ${pythonPackages.join(", ")}`)
  throw invalid(
    `The functions' packages have nowhere to go (${needs.join("; ")}): nothing is installed into this machine's Python. Pass virtualEnvContext: await createVirtualEnvironment(folder).`,
  )
}

function hostPolicy({ policy, timeout, env }: LocalCommandLineCodeExecutorOptions): SandboxPolicy {
  const asked = policyOf({ policy, timeout, env })
  checkTier(asked, "local")
  checkHostPolicy(asked)
  return asked
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("OPTION_INVALID", message)
}
