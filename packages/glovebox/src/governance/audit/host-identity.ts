import { createHash } from "node:crypto"
import { readFileSync, readlinkSync } from "node:fs"
import { hostname } from "node:os"
import { processStart } from "../../internal/process-start.ts"

/** Within one boot of a machine and one namespace, the number and the start of a process name one process. */
export interface ProcessIdentity {
  readonly pid: number
  readonly start: string
  readonly machine: string
  readonly boot: string
  readonly namespace: string
}

export function ownIdentity(): ProcessIdentity {
  return {
    pid: process.pid,
    start: processStart(process.pid) ?? "0",
    machine: createHash("sha256").update(hostname()).digest("hex").slice(0, 8),
    boot: read(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")).slice(0, 8),
    namespace: /\d+/.exec(read(() => readlinkSync("/proc/self/ns/pid")))?.[0] ?? "0",
  }
}

/** Whether a process is still there; undefined when that cannot be seen from here. */
export function isAlive(other: ProcessIdentity): boolean | undefined {
  const own = ownIdentity()
  if (other.boot !== own.boot) return other.machine === own.machine ? false : undefined
  if (other.namespace !== own.namespace) return undefined
  if (process.platform === "linux") return processStart(other.pid) === other.start
  try {
    process.kill(other.pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

function read(what: () => string): string {
  try {
    return what().trim().replaceAll("-", "")
  } catch {
    return "0"
  }
}
