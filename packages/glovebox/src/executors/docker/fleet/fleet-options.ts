import { z } from "zod"
import { GloveboxError } from "../../../core/index.ts"
import { readOptions } from "../../../core/read-options.ts"
import { type PolicyInput, SandboxPolicy } from "../../../policy/index.ts"
import { text } from "../../sandbox/option-fields.ts"
import {
  type DockerCommandLineCodeExecutorOptions,
  type DockerOptions,
  type PullPolicy,
  readDockerOptions,
} from "../docker-options.ts"
import type { EngineAddressOptions } from "../engine-address.ts"
import { type FleetTenant, readTenants } from "./fleet-tenant.ts"
import { distinctNameSchema as name } from "./tenant-name.ts"

export interface FleetHostOptions extends EngineAddressOptions {
  /** How the fleet calls it. */
  readonly name: string
  /** How many calls run there at a time, of all tenants together. */
  readonly capacity: number
  /** What tenants can ask for, such as "gpu". */
  readonly labels?: readonly string[] | undefined
}

/** What a tenant may use; what is left out is not limited. */
export interface FleetQuotaOptions {
  /** Calls that run at a time; more wait. */
  readonly concurrentRuns?: number | undefined
  /** Calls that begin within any minute. */
  readonly runsPerMinute?: number | undefined
  /** CPU time of its containers, in seconds, on average over `perMs`. */
  readonly cpuSeconds?: { readonly amount: number; readonly perMs: number } | undefined
  /** Sessions that live at a time, at work or not. @default 16 */
  readonly sessions?: number | undefined
}

type TenantDockerOptions = Pick<
  DockerCommandLineCodeExecutorOptions,
  | "policy"
  | "image"
  | "runtime"
  | "egress"
  | "secretValues"
  | "functions"
  | "functionsModule"
  | "wheelDir"
  | "initCommand"
  | "languages"
  | "interpreter"
  | "verify"
  | "deviceRequests"
>

export interface FleetTenantOptions extends TenantDockerOptions {
  /** Names of the engines that it may use. @default all */
  readonly hosts?: readonly string[] | undefined
  /** Labels that an engine must have to be used. @default none */
  readonly labels?: readonly string[] | undefined
  /** Containers that wait, ready, on each engine that the tenant has used lately. @default 2 */
  readonly pool?: number | undefined
  readonly quota?: FleetQuotaOptions | undefined
  /** Calls that wait for a place; one more gets TRY_LATER. @default 100 */
  readonly maxQueued?: number | undefined
}

export interface DockerFleetOptions {
  readonly hosts: readonly FleetHostOptions[]
  readonly tenants: Readonly<Record<string, FleetTenantOptions>>
  /** The image of tenants whose policy names none. */
  readonly image?: string | undefined
  /** @default "missing" */
  readonly pull?: PullPolicy | undefined
  /** A folder of this machine in which each tenant has one of its own, for workspaces with a name. */
  readonly workRoot?: string | undefined
  /** How often each engine is asked whether it answers. @default 5000 */
  readonly healthCheckMs?: number | undefined
  /** How long it may take to answer; three times in a row without an answer it is lost, and what runs there with it. @default 5000 */
  readonly healthTimeoutMs?: number | undefined
  /** @default performance.now */
  readonly now?: (() => number) | undefined
}

export interface FleetExecutorOptions extends Pick<
  DockerCommandLineCodeExecutorOptions,
  "isolation" | "concurrency" | "carry" | "deleteTmpFiles"
> {
  readonly tenant: string
  /** Fields in the place of those of the tenant's policy; they can only make it narrower. */
  readonly policy?: PolicyInput | undefined
  /** Keeps the files in a folder of this name, within the tenant's own in `workRoot`. @default memory */
  readonly workspace?: string | undefined
}

const hostSchema = z.strictObject({
  name: name.regex(/^[\w.-]+$/, "must be of letters, digits, dots, dashes and underscores"),
  capacity: z.int().min(1).max(100_000),
  labels: z.array(name).default([]),
  dockerHost: z.string().optional(),
  dockerContext: z.string().optional(),
  tls: z
    .strictObject({ ca: z.string().optional(), cert: z.string().optional(), key: z.string().optional() })
    .optional(),
  dangerouslyAllowPlaintext: z.boolean().optional(),
})

export type FleetHostSettings = z.output<typeof hostSchema>

const schema = z.strictObject({
  hosts: z.array(hostSchema).min(1),
  tenants: z
    .record(
      z.string(),
      z.custom<FleetTenantOptions>(
        (value) => typeof value === "object" && value !== null,
        "must be an object",
      ),
    )
    .refine((tenants) => Object.keys(tenants).length > 0, "must name at least one"),
  image: text.optional(),
  pull: z.enum(["never", "missing", "always"]).default("missing"),
  workRoot: text.optional(),
  healthCheckMs: z.int().min(10).max(3_600_000).default(5_000),
  healthTimeoutMs: z.int().min(10).max(600_000).default(5_000),
  now: z
    .custom<() => number>((value) => typeof value === "function", "must be a function")
    .default(() => () => performance.now()),
})

export interface FleetSettings extends Omit<z.output<typeof schema>, "tenants"> {
  readonly tenants: ReadonlyMap<string, FleetTenant>
}

/** Checks the options of a fleet, and those of each tenant as a Docker executor's. */
export function readFleetOptions(options: DockerFleetOptions): FleetSettings {
  const data = readOptions("the fleet", schema, options)
  refuseTwice(
    "name",
    data.hosts.map((host) => host.name),
  )
  const addresses = data.hosts.map((host) => `${host.dockerHost ?? ""} ${host.dockerContext ?? ""}`)
  refuseTwice("dockerHost or dockerContext", addresses)
  return { ...data, tenants: readTenants(data, data.tenants) }
}

const executorSchema = z.strictObject({
  tenant: z.string(),
  policy: z.unknown().optional(),
  workspace: name.optional(),
  isolation: z.unknown().optional(),
  concurrency: z.unknown().optional(),
  carry: z.unknown().optional(),
  deleteTmpFiles: z.unknown().optional(),
})

/** Refuses what is no options, and options that are an operator's. */
export function checkExecutorOptions(options: FleetExecutorOptions): void {
  readOptions("the executor", executorSchema, options)
}

/** The options of one executor of a tenant, as a Docker executor's. */
export function readExecutorOptions(
  tenant: FleetTenant,
  options: FleetExecutorOptions,
  folder: string | undefined,
): DockerOptions {
  const { isolation, concurrency, carry, deleteTmpFiles } = options
  return readDockerOptions({
    ...tenant.given,
    // They are in the policy, which may have others by now.
    image: undefined,
    runtime: undefined,
    policy: narrowed(tenant, options.policy),
    workDir: folder,
    isolation,
    concurrency,
    carry,
    deleteTmpFiles,
  })
}

function narrowed({ name: tenant, docker }: FleetTenant, given: PolicyInput | undefined): SandboxPolicy {
  if (given === undefined) return docker.policy
  const before = docker.policy.toJSON()
  const policy = new SandboxPolicy({ ...before, ...given, limits: { ...before.limits, ...given.limits } })
  const wider = policy.diff(docker.policy).filter(({ effect }) => effect !== "narrows")
  if (wider.length === 0) return policy
  const list = wider.map(({ path, to }) => `${path}: ${to}`).join("; ")
  throw new GloveboxError(
    "OPTION_INVALID",
    `An executor can only have a narrower policy than its tenant ${tenant}, and this would change or allow more: ${list}.`,
  )
}

function refuseTwice(what: string, values: readonly string[]): void {
  const twice = values.find((value, index) => values.indexOf(value) !== index)
  if (twice === undefined) return
  throw new GloveboxError("OPTION_INVALID", `Two hosts of the fleet have the same ${what}: ${twice.trim()}.`)
}
