import { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import { type SandboxPolicy, checkTier } from "../../policy/index.ts"
import { functionsModule } from "../functions/functions-module.ts"
import type { PythonFunction } from "../functions/python-function.ts"
import { checkModuleName } from "../functions/python-names.ts"
import { policyOf } from "../sandbox/given-policy.ts"
import { carryLimits, sandboxOptionFields } from "../sandbox/option-fields.ts"
import { readOptions } from "../../core/read-options.ts"
import type { SandboxOptions } from "../sandbox/sandbox-options.ts"
import type { WorkspaceLimits } from "../workspace.ts"
import { checkEnforceable } from "./check-enforceable.ts"

/** A session keeps variables too. The memory is that of an interpreter; the files are bounded by it once more. */
export type WasmCodeExecutorOptions = SandboxOptions

const { policy, timeout, memory, env, isolation, pool, concurrency, workDir, carry, deleteTmpFiles } =
  sandboxOptionFields
const schema = z.strictObject({
  policy,
  timeout,
  memory,
  env,
  isolation,
  pool,
  concurrency,
  workDir,
  carry,
  deleteTmpFiles,
  functions: sandboxOptionFields.functions,
  functionsModule: sandboxOptionFields.functionsModule,
})

type Parsed = z.output<typeof schema>

export interface WasmOptions extends Omit<Parsed, "policy" | "carry" | "timeout" | "memory" | "env"> {
  readonly policy: SandboxPolicy
  readonly carry: WorkspaceLimits | undefined
  /** The text of the functions' module, "" for none. */
  readonly library: string
}

// It travels in one frame, with all else that a process is told first.
const LONGEST_LIBRARY = 256 * 1024
const LONGEST_ENV = 128 * 1024
// They say where the standard library is, and it is not there.
const PYTHONS_OWN = ["PYTHONHOME", "PYTHONPLATLIBDIR"]

// What users of other executors would write.
const OTHER_NAMES: Readonly<Record<string, string>> = { mem_limit: "memory", environment: "env" }

/** Checks the options and gives them their defaults; what this sandbox cannot give or enforce is refused. */
export function readWasmOptions(options: WasmCodeExecutorOptions): WasmOptions {
  const data = readOptions("the executor", schema, options, { otherNames: OTHER_NAMES })
  checkModuleName(data.functionsModule)
  const checked = policyOf(options)
  checkTier(checked, "wasm")
  checkEnforceable(checked.fields)
  checkEnvironment(checked.fields.env)
  if (data.workDir !== undefined && data.carry === false) {
    throw new GloveboxError(
      "OPTION_INVALID",
      "workDir was given, and carry: false keeps files from travelling to it. Leave one out.",
    )
  }
  return {
    ...data,
    policy: checked,
    carry: data.carry === false ? undefined : carryLimits(data.carry, checked),
    library: libraryOf(data.functions),
  }
}

function checkEnvironment(given: Readonly<Record<string, string>>): void {
  const bytes = Buffer.byteLength(JSON.stringify(given))
  if (bytes > LONGEST_ENV) {
    throw new GloveboxError(
      "OPTION_INVALID",
      `The environment is ${bytes} bytes; at most ${LONGEST_ENV} fit. Put larger data into files of workDir.`,
    )
  }
  const refused = PYTHONS_OWN.filter((name) => name in given)
  if (refused.length === 0) return
  throw new GloveboxError(
    "OPTION_INVALID",
    `The environment has ${refused.join(", ")}, with which the embedded Python does not run. Leave it out.`,
  )
}

function libraryOf(functions: readonly PythonFunction[]): string {
  const packages = [...new Set(functions.flatMap(({ pythonPackages }) => pythonPackages))].toSorted()
  if (packages.length > 0) {
    throw new GloveboxError(
      "SANDBOX_UNENFORCEABLE",
      `The functions need ${packages.join(", ")}, and the embedded sandbox has Python's standard library only. The docker executor installs packages.`,
    )
  }
  const library = functions.length === 0 ? "" : functionsModule(functions)
  if (Buffer.byteLength(library) > LONGEST_LIBRARY) {
    throw new GloveboxError(
      "OPTION_INVALID",
      `The functions are ${Buffer.byteLength(library)} bytes of source; at most ${LONGEST_LIBRARY} fit. Put larger modules into workDir.`,
    )
  }
  return library
}
