import { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import type { PolicyInput } from "../../policy/index.ts"
import { type PythonFunction, pythonFunction } from "../functions/python-function.ts"
import type { PythonImport } from "../functions/python-import.ts"
import type { LanguageOptions } from "../languages.ts"
import type { WorkspaceLimits } from "../workspace.ts"
import type { PolicyExecutorOptions } from "./policy-executor.ts"
import type { SandboxOptions } from "./sandbox-options.ts"

/** What the data of every executor has, by AutoGen's names; the policy is written as its plain fields. */
export const executorConfigShape = {
  policy: z.record(z.string(), z.unknown()).nullish(),
  /** Seconds, in the place of the policy's; read, and written into the policy. */
  timeout: z.number().positive().nullish(),
  concurrency: z.int().nullish(),
  work_dir: z.string().nullish(),
  carry: z.union([z.literal(false), z.strictObject({ max_bytes: z.number(), max_files: z.int() })]).nullish(),
  functions: z
    .array(
      z.strictObject({
        source: z.string(),
        python_packages: z.array(z.string()).nullish(),
        imports: z.array(z.json()).nullish(),
      }),
    )
    .nullish(),
  functions_module: z.string().nullish(),
}

/** What those with sandboxes have besides. */
export const sandboxConfigShape = {
  ...executorConfigShape,
  isolation: z.enum(["run", "session"]).nullish(),
  /** The lease in seconds. */
  pool: z.strictObject({ size: z.int(), idle_lease: z.number() }).nullish(),
  delete_tmp_files: z.boolean().nullish(),
}

/** The languages of those with a system in their sandboxes. */
export const languagesConfigSchema = z
  .record(
    z.string(),
    z.strictObject({
      command: z.union([z.string(), z.array(z.string())]),
      extension: z.string().optional(),
      aliases: z.array(z.string()).optional(),
      install: z.string().optional(),
    }),
  )
  .nullish()

/** What those have besides whose sandboxes have a system in them. */
export const systemConfigShape = {
  ...sandboxConfigShape,
  interpreter: z.enum(["ready", "fresh"]).nullish(),
  verify: z.literal("claim").nullish(),
  languages: languagesConfigSchema,
  init_command: z.string().nullish(),
}

type ExecutorConfig = z.output<z.ZodObject<typeof executorConfigShape>>
type SandboxConfig = z.output<z.ZodObject<typeof sandboxConfigShape>>
type SystemConfig = z.output<z.ZodObject<typeof systemConfigShape>>
type Input<Shape extends z.ZodRawShape> = z.input<z.ZodObject<Shape>>

type CommonOptions = Pick<
  SandboxOptions,
  "policy" | "timeout" | "concurrency" | "workDir" | "carry" | "functions" | "functionsModule"
>

export function executorOptionsFromConfig(config: ExecutorConfig): CommonOptions {
  const { timeout, carry } = config
  return {
    policy: (config.policy as PolicyInput | null | undefined) ?? undefined,
    timeout: typeof timeout === "number" ? Math.round(timeout * 1000) : undefined,
    concurrency: config.concurrency ?? undefined,
    workDir: config.work_dir ?? undefined,
    carry: carry ? { maxBytes: carry.max_bytes, maxFiles: carry.max_files } : (carry ?? undefined),
    functions: config.functions?.map(({ source, python_packages, imports }) =>
      pythonFunction({
        source,
        pythonPackages: python_packages ?? undefined,
        imports: (imports as PythonImport[] | null | undefined) ?? undefined,
      }),
    ),
    functionsModule: config.functions_module ?? undefined,
  }
}

export function sandboxOptionsFromConfig(config: SandboxConfig): SandboxOptions {
  const { isolation, pool, delete_tmp_files: deleteTmpFiles } = config
  return {
    ...executorOptionsFromConfig(config),
    isolation: isolation ?? undefined,
    pool: pool ? { size: pool.size, idleLease: Math.round(pool.idle_lease * 1000) } : undefined,
    deleteTmpFiles: deleteTmpFiles ?? undefined,
  }
}

export interface SystemOptionsFromConfig extends SandboxOptions {
  readonly interpreter: "ready" | "fresh" | undefined
  readonly verify: "claim" | undefined
  readonly languages: Readonly<Record<string, LanguageOptions>> | undefined
  readonly initCommand: string | undefined
}

export function systemOptionsFromConfig(config: SystemConfig): SystemOptionsFromConfig {
  return {
    ...sandboxOptionsFromConfig(config),
    interpreter: config.interpreter ?? undefined,
    verify: config.verify ?? undefined,
    languages: config.languages ?? undefined,
    initCommand: config.init_command ?? undefined,
  }
}

type ExecutorOptions = Pick<
  PolicyExecutorOptions,
  "policy" | "concurrency" | "workDir" | "carry" | "functions" | "functionsModule"
>

export function executorConfigFromOptions(options: ExecutorOptions): Input<typeof executorConfigShape> {
  const { policy, concurrency, workDir, carry, functions, functionsModule } = options
  return {
    policy: { ...policy.toJSON() },
    concurrency,
    work_dir: workDir,
    carry: carryToConfig(carry),
    functions: functions.length === 0 ? undefined : functions.map(functionToConfig),
    functions_module: functionsModule,
  }
}

export function sandboxConfigFromOptions(
  options: ExecutorOptions & Pick<PolicyExecutorOptions, "isolation" | "pool" | "deleteTmpFiles">,
): Input<typeof sandboxConfigShape> {
  const { isolation, pool, deleteTmpFiles } = options
  return {
    ...executorConfigFromOptions(options),
    isolation,
    pool: { size: pool.size, idle_lease: pool.idleLease / 1000 },
    delete_tmp_files: deleteTmpFiles,
  }
}

export function systemConfigFromOptions(
  options: Omit<PolicyExecutorOptions, "languages"> & { readonly initCommand?: string | undefined },
  languages: Readonly<Record<string, LanguageOptions>> | undefined,
): Input<typeof systemConfigShape> {
  refuse({
    "egress.lookup": options.egress?.lookup,
    "egress.ca": options.egress?.ca,
    secretValues: options.secretValues,
  })
  return {
    ...sandboxConfigFromOptions(options),
    interpreter: options.interpreter,
    verify: options.verify,
    languages: languagesToConfig(languages),
    init_command: options.initCommand,
  }
}

export function languagesToConfig(
  languages: Readonly<Record<string, LanguageOptions>> | undefined,
): z.input<typeof languagesConfigSchema> {
  if (!languages) return undefined
  return Object.fromEntries(
    Object.entries(languages).map(([name, { command, extension, aliases, install }]) => [
      name,
      {
        command: typeof command === "string" ? command : [...command],
        extension,
        aliases: aliases && [...aliases],
        install,
      },
    ]),
  )
}

/** COMPONENT_INVALID for options, by their names, that are not to be in data. */
export function refuse(options: Readonly<Record<string, unknown>>): void {
  const found = Object.keys(options).filter((name) => options[name] !== undefined)
  if (found.length === 0) return
  throw new GloveboxError(
    "COMPONENT_INVALID",
    `The executor cannot be written down with ${found.join(", ")}: it is a function, a secret, or for the machine and the program alone to say. Leave it out, or make the executor in code.`,
  )
}

function carryToConfig(carry: WorkspaceLimits | undefined): Input<typeof executorConfigShape>["carry"] {
  return carry ? { max_bytes: carry.maxBytes, max_files: carry.maxFiles } : false
}

function functionToConfig({ source, pythonPackages, imports }: PythonFunction): {
  source: string
  python_packages: string[] | undefined
  imports: z.core.util.JSONType[] | undefined
} {
  return {
    source,
    python_packages: pythonPackages.length === 0 ? undefined : [...pythonPackages],
    // Through JSON, which has no fields that are not there.
    imports:
      imports.length === 0 ? undefined : (JSON.parse(JSON.stringify(imports)) as z.core.util.JSONType[]),
  }
}
