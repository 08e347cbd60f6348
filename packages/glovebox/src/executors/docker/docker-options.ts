import { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import type { SandboxPolicy } from "../../policy/index.ts"
import { checkModuleName } from "../functions/python-names.ts"
import { type LanguageTable, languageTable } from "../languages.ts"
import type { WorkspaceLimits } from "../workspace.ts"
import { givenPolicy, policyOf } from "../sandbox/given-policy.ts"
import { carryLimits, sandboxOptionFields, text } from "../sandbox/option-fields.ts"
import { readOptions } from "../../core/read-options.ts"
import type { SystemSandboxOptions } from "../sandbox/sandbox-options.ts"
import { WORKSPACE } from "../sandbox/workspace-folder.ts"
import { type DeviceRequest, hasInterface } from "./container-spec.ts"
import type { EngineAddressOptions } from "./engine-address.ts"

/** When to ask a registry for the image. */
export type PullPolicy = "never" | "missing" | "always"

export interface DockerCommandLineCodeExecutorOptions extends SystemSandboxOptions, EngineAddressOptions {
  // Fields of the policy, for short; each takes the place of the policy's own.
  readonly image?: string | undefined
  /** Docker's older way to say `cpus`: quota / period. */
  readonly cpuPeriod?: number | undefined
  readonly cpuQuota?: number | undefined
  readonly readOnlyRoot?: boolean | undefined
  readonly capabilities?: readonly string[] | undefined
  readonly runtime?: string | undefined
  /** Further mounts, by the host's path; read-only unless it says "rw". */
  readonly extraVolumes?:
    | Readonly<Record<string, { readonly bind: string; readonly mode?: "ro" | "rw" }>>
    | undefined

  /** A folder of the engine's host that is the workspace itself, writable and without a size limit. */
  readonly bindDir?: string | undefined
  /** @default one that is made up */
  readonly containerName?: string | undefined
  /** Whether containers are removed when they end. @default true */
  readonly autoRemove?: boolean | undefined
  /** Whether `stop()` ends the container of a session; else it ends by its lease. @default true */
  readonly stopContainer?: boolean | undefined
  /** A folder of the engine's host with wheels, from which the functions' packages are installed. */
  readonly wheelDir?: string | undefined
  readonly deviceRequests?: readonly DeviceRequest[] | undefined
  readonly extraHosts?: Readonly<Record<string, string>> | undefined
  /** @default "missing" */
  readonly pull?: PullPolicy | undefined
}

const schema = z.strictObject({
  dockerHost: z.string().optional(),
  dockerContext: z.string().optional(),
  tls: z
    .strictObject({ ca: z.string().optional(), cert: z.string().optional(), key: z.string().optional() })
    .optional(),
  dangerouslyAllowPlaintext: z.boolean().optional(),
  ...sandboxOptionFields,
  image: z.unknown().optional(),
  cpuPeriod: z.int().min(1).optional(),
  cpuQuota: z.int().min(1).optional(),
  readOnlyRoot: z.unknown().optional(),
  user: z.unknown().optional(),
  capabilities: z.array(z.string()).optional(),
  seccomp: z.unknown().optional(),
  runtime: z.unknown().optional(),
  extraVolumes: z
    .record(z.string(), z.strictObject({ bind: z.string(), mode: z.enum(["ro", "rw"]).default("ro") }))
    .default({}),
  bindDir: z.string().min(1).optional(),
  containerName: z
    .string()
    .regex(/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,100}$/, "is not the name of a container")
    .optional(),
  autoRemove: z.boolean().default(true),
  stopContainer: z.boolean().default(true),
  wheelDir: z.string().optional(),
  deviceRequests: z
    .array(
      z.strictObject({
        driver: z.string().optional(),
        count: z.int().optional(),
        deviceIds: z.array(z.string()).optional(),
        capabilities: z.array(z.array(z.string())).optional(),
        options: z.record(z.string(), z.string()).optional(),
      }),
    )
    .default([]),
  extraHosts: z.record(z.string(), z.string()).default({}),
  initCommand: text.optional(),
  pull: z.enum(["never", "missing", "always"]).default("missing"),
})

type Parsed = z.output<typeof schema>

export interface DockerOptions extends Omit<
  Parsed,
  "policy" | "languages" | "carry" | "image" | "timeout" | "memory" | "cpus" | "pids" | "env"
> {
  readonly policy: SandboxPolicy
  readonly languages: LanguageTable
  readonly carry: WorkspaceLimits | undefined
}

// What users of AutoGen and of Docker's own clients would write.
const OTHER_NAMES: Readonly<Record<string, string>> = {
  network_disabled: "network",
  networkDisabled: "network",
  network_mode: "network",
  mem_limit: "memory",
  memLimit: "memory",
  pids_limit: "pids",
  read_only: "readOnlyRoot",
  readOnly: "readOnlyRoot",
  remove: "autoRemove",
  volumes: "extraVolumes",
  cap_drop: "capabilities",
  cap_add: "capabilities",
  nano_cpus: "cpus",
  environment: "env",
}

/** Checks the options and gives them their defaults; the shorthands become the policy's. */
export function readDockerOptions(options: DockerCommandLineCodeExecutorOptions): DockerOptions {
  const data = readOptions("the executor", schema, options, { otherNames: OTHER_NAMES })
  checkModuleName(data.functionsModule)
  const policy = dockerPolicy(options, data)
  if (Object.keys(data.extraHosts).length > 0 && !hasInterface(policy.fields)) {
    throw new GloveboxError(
      "OPTION_INVALID",
      "extraHosts names hosts, but the sandbox has no network: nothing could be reached by them. Names of an allow-list are resolved outside of it.",
    )
  }
  refuseContradictions(options, data)
  return {
    ...data,
    policy,
    languages: languageTable(options.languages),
    carry: data.carry === false || data.bindDir !== undefined ? undefined : carryLimits(data.carry, policy),
  }
}

// Options of which one would silently do nothing.
function refuseContradictions(options: DockerCommandLineCodeExecutorOptions, data: Parsed): void {
  if (data.bindDir !== undefined && data.workDir !== undefined) {
    refuse(
      "workDir and bindDir were both given. Files travel to and from workDir over the engine's stream, also from within a container; bindDir mounts a folder in its place. Use one.",
    )
  }
  if (data.workDir !== undefined && data.carry === false) {
    refuse("workDir was given, and carry: false keeps files from travelling to it. Leave one out.")
  }
  if (options.cpus !== undefined && data.cpuQuota !== undefined) {
    refuse("cpus and cpuQuota say the same in two ways. Use one.")
  }
  if (data.cpuPeriod !== undefined && data.cpuQuota === undefined) {
    refuse("cpuPeriod alone bounds nothing: give cpuQuota too, or cpus.")
  }
}

function refuse(message: string): never {
  throw new GloveboxError("OPTION_INVALID", message)
}

function dockerPolicy(options: DockerCommandLineCodeExecutorOptions, data: Parsed): SandboxPolicy {
  const given = givenPolicy(options.policy).mounts
  const mounts = [
    ...(Array.isArray(given) ? given : []),
    ...Object.entries(data.extraVolumes).map(([source, { bind, mode }]) => ({ source, target: bind, mode })),
    ...(data.bindDir === undefined ? [] : [{ source: data.bindDir, target: WORKSPACE, mode: "rw" as const }]),
  ]
  const { cpuQuota, cpuPeriod = 100_000 } = data
  const cpus = options.cpus ?? (cpuQuota === undefined ? undefined : cpuQuota / cpuPeriod)
  const { image, network, readOnlyRoot, user, capabilities, seccomp, runtime } = options
  return policyOf(
    { ...options, cpus },
    {
      image,
      network,
      readOnlyRoot,
      user,
      capabilities: capabilities && [...capabilities],
      seccomp,
      runtime,
      // What is no list is the policy's to refuse.
      mounts: given === undefined || Array.isArray(given) ? mounts : given,
    },
  )
}
