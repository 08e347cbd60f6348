import { randomBytes } from "node:crypto"
import { readFileSync, readlinkSync } from "node:fs"

const PREFIX = "glovebox"

/** A name that says whose a cgroup is: the namespace of process numbers, the process, and its start. */
export function cgroupName(): string {
  const unique = randomBytes(6).toString("hex")
  return [PREFIX, namespace(), process.pid, startOf(process.pid) ?? "0", unique].join("-")
}

/** Whether a cgroup of this name was made by a process that is gone; of other namespaces nothing is known. */
export function isOrphan(name: string): boolean {
  const [prefix, space, pid = "", start, ...rest] = name.split("-")
  if (prefix !== PREFIX || rest.length !== 1 || space !== namespace() || !/^\d+$/.test(pid)) return false
  return startOf(Number(pid)) !== start
}

// The clock ticks since boot at which the process began; a name may hold spaces and brackets.
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return fields[0] === "Z" ? undefined : fields[19]
  } catch {
    return undefined
  }
}

function namespace(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0"
  } catch {
    return "0"
  }
}
