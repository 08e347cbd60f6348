import { resolve, sep } from "node:path"
import { z } from "zod"
import { GloveboxError } from "../../../core/index.ts"
import { readOptions } from "../../../core/read-options.ts"
import { checkTier } from "../../../policy/index.ts"
import { givenPolicy } from "../../sandbox/given-policy.ts"
import {
  type DockerCommandLineCodeExecutorOptions,
  type DockerOptions,
  type PullPolicy,
  readDockerOptions,
} from "../docker-options.ts"
import type { FleetTenantOptions } from "./fleet-options.ts"
import { distinctNameSchema } from "./tenant-name.ts"

const label = z.string().min(1)
// A year: what is owed is paid back within times that a timer can still tell.
const LONGEST_PERIOD_MS = 366 * 24 * 3_600_000
const count = z.int().min(1).max(1_000_000)

const schema = z.strictObject({
  hosts: z.array(label).min(1).optional(),
  labels: z.array(label).default([]),
  pool: z.int().min(0).max(256).default(2),
  maxQueued: z.int().min(0).max(100_000).default(100),
  quota: z
    .strictObject({
      concurrentRuns: count.optional(),
      runsPerMinute: count.optional(),
      cpuSeconds: z
        .strictObject({
          amount: z.number().min(0.001).max(1_000_000_000),
          perMs: z.number().min(1).max(LONGEST_PERIOD_MS),
        })
        .optional(),
      sessions: z.int().min(0).max(10_000).default(16),
    })
    .default({ sessions: 16 }),
  // The Docker executor's own, which are checked as such.
  policy: z.unknown().optional(),
  image: z.unknown().optional(),
  runtime: z.unknown().optional(),
  egress: z.unknown().optional(),
  secretValues: z.unknown().optional(),
  functions: z.unknown().optional(),
  functionsModule: z.unknown().optional(),
  wheelDir: z.unknown().optional(),
  initCommand: z.unknown().optional(),
  languages: z.unknown().optional(),
  interpreter: z.unknown().optional(),
  verify: z.unknown().optional(),
  deviceRequests: z.unknown().optional(),
})

type TenantFields = z.output<typeof schema>

/** One who uses the fleet: nothing of it is another's. */
export interface FleetTenant extends Pick<TenantFields, "maxQueued" | "quota"> {
  readonly name: string
  /** The names of its engines. */
  readonly hosts: ReadonlySet<string>
  readonly docker: DockerOptions
  /** The same as it was given. */
  readonly given: DockerCommandLineCodeExecutorOptions
}

interface FleetDefaults {
  readonly hosts: readonly { readonly name: string; readonly labels: readonly string[] }[]
  readonly image?: string | undefined
  readonly pull: PullPolicy
  readonly workRoot?: string | undefined
}

export function readTenants(
  fleet: FleetDefaults,
  given: Readonly<Record<string, FleetTenantOptions>>,
): ReadonlyMap<string, FleetTenant> {
  const tenants = Object.entries(given).map(([name, options]) => readTenant(fleet, name, options))
  refuseSharedFiles(tenants)
  if (fleet.workRoot !== undefined) refuseWorkRoot(tenants, resolve(fleet.workRoot))
  return new Map(tenants.map((tenant) => [tenant.name, tenant]))
}

function readTenant(fleet: FleetDefaults, name: string, given: FleetTenantOptions): FleetTenant {
  if (!distinctNameSchema.safeParse(name).success) {
    throw new GloveboxError(
      "OPTION_INVALID",
      `The name of a tenant has from 1 to 200 characters, none of them a control character: ${JSON.stringify(name.slice(0, 200))}.`,
    )
  }
  const what = `the tenant ${JSON.stringify(name)}`
  const fields = readOptions(what, schema, given)
  const { hosts: _hosts, labels: _labels, maxQueued: _maxQueued, quota: _quota, pool: _pool, ...own } = given
  const options: DockerCommandLineCodeExecutorOptions = {
    ...own,
    image: own.image ?? (givenPolicy(own.policy).image === undefined ? fleet.image : undefined),
    pull: fleet.pull,
    pool: { size: fields.pool },
  }
  const docker = readDockerOptions(options)
  checkTier(docker.policy, "docker")
  const { maxQueued, quota } = fields
  return { name, hosts: hostsOf(fleet, what, fields), docker, given: options, maxQueued, quota }
}

function hostsOf(fleet: FleetDefaults, what: string, { hosts, labels }: TenantFields): ReadonlySet<string> {
  const known = fleet.hosts.map((host) => host.name)
  const strange = hosts?.find((host) => !known.includes(host))
  if (strange !== undefined) {
    throw new GloveboxError(
      "OPTION_INVALID",
      `${what} names the host ${JSON.stringify(strange)}, which the fleet has not. It has ${known.join(", ")}.`,
    )
  }
  const found = fleet.hosts
    .filter((host) => hosts === undefined || hosts.includes(host.name))
    .filter((host) => labels.every((wanted) => host.labels.includes(wanted)))
    .map((host) => host.name)
  if (found.length > 0) return new Set(found)
  throw new GloveboxError(
    "OPTION_INVALID",
    `${what} can use no host of the fleet: none of its hosts has the labels ${labels.join(", ")}.`,
  )
}

// A folder that one tenant writes and another sees would be a way between them.
function refuseSharedFiles(tenants: readonly FleetTenant[]): void {
  const mounts = tenants.flatMap(({ name, docker }) =>
    docker.policy.fields.mounts.map(({ source, mode }) => ({ name, path: resolve(source), mode })),
  )
  for (const written of mounts.filter(({ mode }) => mode === "rw")) {
    const other = mounts.find(({ name, path }) => name !== written.name && overlaps(path, written.path))
    if (!other) continue
    throw new GloveboxError(
      "OPTION_INVALID",
      `The tenants ${written.name} and ${other.name} both mount ${written.path}, and one may write to it. Give each a folder of its own, or mount it read-only for both.`,
    )
  }
}

// In it are the folders of all of them.
function refuseWorkRoot(tenants: readonly FleetTenant[], workRoot: string): void {
  for (const { name, docker } of tenants) {
    const mount = docker.policy.fields.mounts.find(({ source }) => overlaps(resolve(source), workRoot))
    if (!mount) continue
    throw new GloveboxError(
      "OPTION_INVALID",
      `The tenant ${name} mounts ${mount.source}, where the fleet's workRoot keeps the files of all tenants.`,
    )
  }
}

function overlaps(a: string, b: string): boolean {
  return withEnd(a).startsWith(withEnd(b)) || withEnd(b).startsWith(withEnd(a))
}

function withEnd(folder: string): string {
  return folder.endsWith(sep) ? folder : `${folder}${sep}`
}
