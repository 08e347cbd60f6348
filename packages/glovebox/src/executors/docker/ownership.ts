import { readFileSync, readlinkSync } from "node:fs"
import { hostname } from "node:os"
import { randomUUID } from "node:crypto"
import { processStart } from "../../internal/process-start.ts"

/** On everything this package creates on an engine. */
export const OWNER_LABEL = "org.glovebox.owner"
const PROCESS_LABEL = "org.glovebox.process"
const HOST_LABEL = "org.glovebox.host"
/** The container's own name: labels alone are inherited by whatever is made of an image that has them. */
export const NAME_LABEL = "org.glovebox.container"
/** On what the user asked to keep. */
const KEEP_LABEL = "org.glovebox.keep"

export interface OwnerLabels {
  readonly owner: string
  readonly policySha256: string
  readonly isKept: boolean
}

export function newOwner(): string {
  return randomUUID()
}

/** Labels that tell whose a container is, and whether its owner can still be alive. */
export function ownerLabels({ owner, policySha256, isKept }: OwnerLabels): Record<string, string> {
  return {
    [OWNER_LABEL]: owner,
    [PROCESS_LABEL]: `${process.pid}:${processStart(process.pid) ?? ""}`,
    [HOST_LABEL]: hostIdentity(),
    "org.glovebox.policy": policySha256,
    [KEEP_LABEL]: String(isKept),
  }
}

export type OwnerState = "alive" | "dead" | "elsewhere" | "kept"

/** Whether the process that made this is still there; of another machine's processes nothing is known. */
export function ownerState(labels: Readonly<Record<string, string>>): OwnerState {
  if (labels[KEEP_LABEL] === "true") return "kept"
  if (labels[HOST_LABEL] !== hostIdentity()) return "elsewhere"
  const [pid, start] = (labels[PROCESS_LABEL] ?? "").split(":")
  if (!/^\d+$/.test(pid ?? "")) return "dead"
  return isAlive(Number(pid), start ?? "") ? "alive" : "dead"
}

function isAlive(pid: number, start: string): boolean {
  const now = processStart(pid)
  // Another process may have the number by now, but not the same start.
  if (process.platform === "linux") return now !== undefined && now === start
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

let identity: string | undefined

// A boot and a namespace of process numbers: within one of them a number means one process.
function hostIdentity(): string {
  identity ??= [hostname(), read("/proc/sys/kernel/random/boot_id"), namespace()].filter(Boolean).join("/")
  return identity
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8").trim()
  } catch {
    return ""
  }
}

function namespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid")
  } catch {
    return ""
  }
}
