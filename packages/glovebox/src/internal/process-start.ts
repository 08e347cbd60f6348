import { readFileSync } from "node:fs"

/**
 * When a process began, in clock ticks since boot: another process may have its number later, but not the same start.
 * Undefined when it is gone, or where the kernel does not tell.
 */
export function processStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    // A name may hold spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return fields[0] === "Z" ? undefined : fields[19]
  } catch {
    return undefined
  }
}
