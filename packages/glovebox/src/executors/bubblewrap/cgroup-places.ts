import { constants } from "node:fs"
import { access, readFile, statfs, writeFile } from "node:fs/promises"
import { dirname, join, relative } from "node:path"
import { GloveboxError } from "../../core/index.ts"

export type Controller = "memory" | "pids" | "cpu"

// The kernel's number of the file system.
const CGROUP2 = 0x6367_7270
const CONTROLLERS: readonly Controller[] = ["memory", "pids", "cpu"]

/** Folders in which cgroups of ours can be made. */
export interface CgroupPlace {
  readonly version: 1 | 2
  readonly folders: ReadonlyMap<Controller, string>
}

/** What the kernel says of this process's cgroups and where they are mounted. */
export interface CgroupTexts {
  /** /proc/self/cgroup */
  readonly own: string
  /** /proc/self/mountinfo */
  readonly mounts: string
}

export async function readCgroupTexts(): Promise<CgroupTexts> {
  const [own, mounts] = await Promise.all([read("/proc/self/cgroup"), read("/proc/self/mountinfo")])
  return { own, mounts }
}

async function read(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "")
}

/** Where a cgroup can be made for each controller that is there; empty folders where none can. */
export async function findCgroupPlace(texts: CgroupTexts): Promise<CgroupPlace> {
  const own = ownFolders(texts)
  if (own.legacy.size > 0) return { version: 1, folders: await writable(own.legacy) }
  if (own.unified === undefined) return { version: 2, folders: new Map() }
  return { version: 2, folders: await unifiedFolders(own.unified, own.unifiedRoot) }
}

/** The folder of cgroup v2 that was named, or an error: limits that were asked of it are not kept by less. */
export async function namedCgroupPlace(
  folder: string,
  typeOf: (folder: string) => Promise<number> = fileSystemOf,
): Promise<CgroupPlace> {
  const type = await typeOf(folder).catch((cause: unknown) => {
    throw refused(folder, "cannot be read", cause)
  })
  // Before anything is written into it.
  if (type !== CGROUP2) throw refused(folder, "is no folder of cgroup v2")
  await enableIn(folder)
  const folders = await unifiedFolders(folder, folder)
  if (folders.size > 0) return { version: 2, folders }
  const enabled = await enabledIn(folder)
  const missing = (["memory", "pids"] as const).filter((name) => !enabled.includes(name))
  throw refused(
    folder,
    missing.length === 0
      ? "cannot be written by this user"
      : `has not the controllers for it (${missing.join(", ")}), or holds processes itself`,
  )
}

async function fileSystemOf(folder: string): Promise<number> {
  return (await statfs(folder)).type
}

function refused(folder: string, reason: string, cause?: unknown): GloveboxError {
  return new GloveboxError(
    "OPTION_INVALID",
    `cgroup: ${folder} ${reason}, so no limit can be kept there. Name an empty folder of cgroup v2 that this user may write and that memory and pids are delegated to, or leave the option out.`,
    { cause },
  )
}

interface OwnFolders {
  readonly legacy: ReadonlyMap<Controller, string>
  readonly unified: string | undefined
  readonly unifiedRoot: string | undefined
}

interface CgroupMount {
  readonly type: string
  /** The part of the hierarchy that is mounted. */
  readonly root: string
  readonly folder: string
  readonly options: readonly string[]
}

/** The folders of this process's own cgroups. */
export function ownFolders({ own, mounts }: CgroupTexts): OwnFolders {
  const mounted = cgroupMounts(mounts)
  const legacy = new Map<Controller, string>()
  let unified: string | undefined
  let unifiedRoot: string | undefined
  for (const line of own.trim().split("\n")) {
    const [, names = "", path = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    if (names === "") {
      const mount = mounted.find(({ type }) => type === "cgroup2")
      unified = mount && folderOf(mount, path)
      unifiedRoot = mount?.folder
    }
    for (const controller of CONTROLLERS.filter((name) => names.split(",").includes(name))) {
      const mount = mounted.find(({ type, options }) => type === "cgroup" && options.includes(controller))
      const folder = mount && folderOf(mount, path)
      if (folder !== undefined) legacy.set(controller, folder)
    }
  }
  return { legacy, unified, unifiedRoot }
}

function cgroupMounts(text: string): CgroupMount[] {
  return text
    .trim()
    .split("\n")
    .flatMap((line) => {
      const [before = "", after = ""] = line.split(" - ")
      const [, , , root = "", folder = ""] = before.split(" ")
      const [type = "", , options = ""] = after.split(" ")
      return type === "cgroup" || type === "cgroup2"
        ? [{ type, root, folder, options: options.split(",") }]
        : []
    })
}

// A container may see only its own part of the hierarchy.
function folderOf({ root, folder }: CgroupMount, path: string): string | undefined {
  const below = relative(root, path)
  return below.startsWith("..") ? undefined : join(folder, below)
}

async function writable(folders: ReadonlyMap<Controller, string>): Promise<Map<Controller, string>> {
  const found = new Map<Controller, string>()
  for (const [controller, folder] of folders) if (await canWrite(folder)) found.set(controller, folder)
  return found
}

// A cgroup with processes in it cannot have limited ones below, so the nearest that can is looked for.
async function unifiedFolders(start: string, root: string | undefined): Promise<Map<Controller, string>> {
  for (let folder = start; ; folder = dirname(folder)) {
    const enabled = await enabledIn(folder)
    // A process may be moved only by who may write where both its cgroups are.
    if (enabled.includes("memory") && enabled.includes("pids") && (await canWrite(folder))) {
      return new Map(enabled.map((controller) => [controller, folder]))
    }
    if (folder === root || folder === dirname(folder)) return new Map()
  }
}

async function enabledIn(folder: string): Promise<Controller[]> {
  const text = await read(join(folder, "cgroup.subtree_control"))
  return CONTROLLERS.filter((name) => text.trim().split(" ").includes(name))
}

async function enableIn(folder: string): Promise<void> {
  for (const name of CONTROLLERS) {
    // One that is not delegated stays away; what is then enabled is what counts.
    await writeFile(join(folder, "cgroup.subtree_control"), `+${name}`).catch(() => {})
  }
}

async function canWrite(folder: string): Promise<boolean> {
  try {
    await access(folder, constants.W_OK)
    await access(join(folder, "cgroup.procs"), constants.W_OK)
    return true
  } catch {
    return false
  }
}
