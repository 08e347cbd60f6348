import { readFile, stat } from "node:fs/promises"
import type { ProcessInfo } from "./sandbox-process.ts"

/** What this machine's kernel says of a sandbox's first process, seen from outside. */
export interface KernelView {
  /** Who it is on this machine. */
  readonly uid: number
  readonly gid: number
  readonly seccompFilters: number | undefined
  readonly processors: number
  /** Namespaces that it shares with this process. */
  readonly shared: readonly string[]
  readonly addressSpace: number | "unlimited"
  readonly processes: number | "unlimited"
  readonly coreFile: number | "unlimited"
}

const NAMESPACES = ["mnt", "pid", "net", "ipc", "uts", "cgroup"]

export async function readKernelView({ init, namespaces }: ProcessInfo): Promise<KernelView> {
  const [status, limits] = await Promise.all([
    readFile(`/proc/${init}/status`, "utf8"),
    readFile(`/proc/${init}/limits`, "utf8"),
  ])
  const field = (name: string): string => new RegExp(`^${name}:\\s*(.*)$`, "m").exec(status)?.[1] ?? ""
  const limit = (name: string): number | "unlimited" => {
    const hard = new RegExp(`^Max ${name}\\s+\\S+\\s+(\\S+)`, "m").exec(limits)?.[1] ?? "unlimited"
    return hard === "unlimited" ? hard : Number(hard)
  }
  const filters = field("Seccomp_filters")
  return {
    uid: Number(field("Uid").split(/\s+/)[0]),
    gid: Number(field("Gid").split(/\s+/)[0]),
    seccompFilters: filters === "" ? undefined : Number(filters),
    processors: processorsIn(field("Cpus_allowed_list")).length,
    shared: await sharedNamespaces(namespaces),
    addressSpace: limit("address space"),
    processes: limit("processes"),
    coreFile: limit("core file size"),
  }
}

// One that bwrap does not tell counts as shared: nothing is known of it.
async function sharedNamespaces(told: Readonly<Record<string, number>>): Promise<string[]> {
  const shared: string[] = []
  for (const name of NAMESPACES) {
    const own = (await stat(`/proc/self/ns/${name}`)).ino
    if (told[name] === undefined || told[name] === own) shared.push(name)
  }
  return shared
}

/** The numbers in a list such as "0-3,8". */
export function processorsIn(list: string): number[] {
  return list.split(",").flatMap((range) => {
    const [from, to = from] = range.split("-").map(Number)
    if (from === undefined || to === undefined || Number.isNaN(from)) return []
    return Array.from({ length: to - from + 1 }, (_, index) => from + index)
  })
}
