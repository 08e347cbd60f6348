import { execFile } from "node:child_process"
import { access, readFile, statfs } from "node:fs/promises"
import { release } from "node:os"
import { promisify } from "node:util"
import { type CgroupPlace, findCgroupPlace, namedCgroupPlace, readCgroupTexts } from "./cgroup-places.ts"
import { explainFailure } from "./explain-failure.ts"
import { type Bubblewrap, TOOL_FOLDERS, findBubblewrap, findProgram } from "./find-tools.ts"
import { processorsIn } from "./kernel-view.ts"
import type { LimitMeans } from "./limit-plan.ts"

const run = promisify(execFile)

/** A user and a group by their numbers on this machine. */
export interface Identity {
  readonly uid: number
  readonly gid: number
}

/** What this machine has to make sandboxes with. */
export interface Machine {
  readonly bwrap: Bubblewrap
  readonly cgroup: CgroupPlace
  readonly means: LimitMeans
  /** The folder of the host over which a sandbox's writable places can be mounted, for it alone. */
  readonly mountBase: string | undefined
  /** Whom a sandbox runs as on this machine: root becomes another first. */
  readonly identity: Identity
  /** Files of /proc that are there and tell of the host. */
  readonly hidden: readonly string[]
}

export interface MachineOptions {
  readonly bwrapPath?: string | undefined
  readonly cgroup?: string | false | undefined
  /** As the policy says it. */
  readonly user: string
  /** Folders that the sandbox has a use for, which must not be covered. */
  readonly sources: readonly string[]
}

const FALLBACK_ID = 65_532
const BASES = ["/mnt", "/media", "/srv", "/opt", "/var/empty", "/home"]
const HIDDEN = [
  "kcore",
  "keys",
  "latency_stats",
  "sched_debug",
  "timer_list",
  "timer_stats",
  "kallsyms",
  "interrupts",
  "cmdline",
]

/** Looks for bwrap and for the means to keep limits. */
export async function surveyMachine(options: MachineOptions): Promise<Machine> {
  const bwrap = await findBubblewrap(options.bwrapPath)
  const identity = await identityFor(options.user)
  const [cgroup, mountBase, taskset, status, shm, hidden] = await Promise.all([
    cgroupPlace(options.cgroup),
    findMountBase(options.sources, identity),
    findProgram("taskset"),
    readFile("/proc/self/status", "utf8"),
    // Any tmpfs is as large as another, unless somebody said otherwise.
    statfs("/dev/shm").catch(() => undefined),
    present(HIDDEN.map((name) => `/proc/${name}`)),
  ])
  // What keeps a user from mounting may keep bwrap from everything.
  if (mountBase === undefined) await tryBubblewrap(bwrap.path, identity)
  return {
    bwrap,
    cgroup,
    mountBase,
    identity,
    hidden,
    means: {
      controllers: [...cgroup.folders.keys()],
      canMount: mountBase !== undefined,
      tmpfsFiles: shm?.files ?? Number.POSITIVE_INFINITY,
      hasTaskset: taskset !== undefined,
      processors: processorsIn(/^Cpus_allowed_list:\s*(.*)$/m.exec(status)?.[1] ?? "0"),
      kernel: release(),
    },
  }
}

// A sandbox of root's would be root wherever the wall has a gap, and would read what only root may.
async function identityFor(user: string): Promise<Identity> {
  const own = { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 }
  if (own.uid !== 0) return own
  const [uid = 0, gid = 0] = user.split(":").map(Number)
  const other = { uid: uid === 0 ? FALLBACK_ID : uid, gid: gid === 0 ? FALLBACK_ID : gid }
  // Root of a namespace that has nobody else is an ordinary user outside of it.
  const isThere = (await isMapped("uid_map", other.uid)) && (await isMapped("gid_map", other.gid))
  return isThere ? other : own
}

async function isMapped(file: "uid_map" | "gid_map", id: number): Promise<boolean> {
  const text = await readFile(`/proc/self/${file}`, "utf8").catch(() => "")
  return text
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .some(([from = 0, , count = 0]) => id >= from && id < from + count)
}

/** What spawn has to be told to start a process as this user: nothing, when it is this one. */
export function becoming(identity: Identity): Partial<Identity> {
  return identity.uid === process.getuid?.() ? {} : identity
}

async function cgroupPlace(given: string | false | undefined): Promise<CgroupPlace> {
  if (given === false) return { version: 2, folders: new Map() }
  return given === undefined ? findCgroupPlace(await readCgroupTexts()) : namedCgroupPlace(given)
}

// Tried, not guessed: systems let users make namespaces and then mount nothing in them.
async function findMountBase(sources: readonly string[], identity: Identity): Promise<string | undefined> {
  const isFree = (base: string): boolean =>
    !sources.some(
      (source) => source === base || source.startsWith(`${base}/`) || base.startsWith(`${source}/`),
    )
  const [base] = await present(BASES.filter(isFree))
  if (base === undefined) return undefined
  try {
    const mount = `mount -t tmpfs -o size=64k,nr_inodes=16,mode=0755 glovebox ${base}`
    await runAs(identity, "unshare", ["--user", "--map-root-user", "--mount", "--", "sh", "-c", mount])
    return base
  } catch {
    return undefined
  }
}

async function tryBubblewrap(path: string, identity: Identity): Promise<void> {
  try {
    await runAs(identity, path, ["--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "sh", "-c", ":"])
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }
    throw await explainFailure((stderr ?? "").trim() || message, error)
  }
}

async function runAs(identity: Identity, program: string, args: readonly string[]): Promise<void> {
  await run(program, args, {
    cwd: "/",
    env: { PATH: TOOL_FOLDERS.join(":") },
    timeout: 10_000,
    ...becoming(identity),
  })
}

async function present(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    paths.map(async (path) =>
      access(path).then(
        () => path,
        () => undefined,
      ),
    ),
  )
  return found.filter((path) => path !== undefined)
}
