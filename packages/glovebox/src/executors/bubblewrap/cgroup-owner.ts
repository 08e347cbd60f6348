import { randomBytes } from "node:crypto"
import { readlinkSync } from "node:fs"
import { processStart } from "../../internal/process-start.ts"

const PREFIX = "glovebox"

/** A name that says whose a cgroup is: the namespace of process numbers, the process, and its start. */
export function cgroupName(): string {
  const unique = randomBytes(6).toString("hex")
  return [PREFIX, namespace(), process.pid, processStart(process.pid) ?? "0", unique].join("-")
}

/** Whether a cgroup of this name was made by a process that is gone; of other namespaces nothing is known. */
export function isOrphan(name: string): boolean {
  const [prefix, space, pid = "", start, ...rest] = name.split("-")
  if (prefix !== PREFIX || rest.length !== 1 || space !== namespace() || !/^\d+$/.test(pid)) return false
  return processStart(Number(pid)) !== start
}

function namespace(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0"
  } catch {
    return "0"
  }
}
