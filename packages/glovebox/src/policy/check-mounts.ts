import { realpath } from "node:fs/promises"
import { homedir, tmpdir } from "node:os"
import { sep } from "node:path"
import { GloveboxError } from "../core/index.ts"
import type { SandboxPolicy } from "./sandbox-policy.ts"

// What is in these is the host's own: its configuration, its state, its kernel, its users.
const REFUSED_TREES = ["/etc", "/proc", "/sys", "/dev", "/boot", "/var", "/run", "/root"]
// The folder itself gives everything below it; a folder inside is the user's choice.
const REFUSED_FOLDERS = [
  "/",
  "/home",
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib64",
  "/opt",
  "/srv",
  "/mnt",
  "/media",
]
const ENGINE_SOCKETS = /(?:^|\/)(?:docker|podman|containerd|crio|buildkitd)\.sock$/

export interface CheckMountsOptions {
  /** @default the home of this process's user */
  readonly home?: string | undefined
}

/** Refuses mounts that would hand the host to the sandbox, also through a link, and sources that do not exist. */
export async function checkMounts(policy: SandboxPolicy, options: CheckMountsOptions = {}): Promise<void> {
  const home = options.home ?? homedir()
  const homes = [home, await realpath(home).catch(() => home)]
  for (const { source } of policy.fields.mounts) {
    const resolved = await realpath(source).catch((cause: unknown) => {
      throw refused(source, "does not exist, or cannot be read", { cause })
    })
    for (const path of new Set([source, resolved])) {
      const reason = dangerOf(path, homes)
      const through = path === source ? "" : ` (${source} leads there)`
      if (reason !== undefined) throw refused(path, `${reason}${through}`)
    }
  }
}

function dangerOf(path: string, homes: readonly string[]): string | undefined {
  const clean = path.length > 1 && path.endsWith(sep) ? path.slice(0, -1) : path
  if (ENGINE_SOCKETS.test(clean)) return "is the socket of an engine, which gives the whole host"
  if (REFUSED_FOLDERS.includes(clean)) return "is a folder of the system"
  if (homes.includes(clean)) return "is a home folder, where keys and tokens are"
  const tree = REFUSED_TREES.find((root) => clean === root || clean.startsWith(`${root}/`))
  const below = (root: string): boolean => clean.startsWith(`${root}/`)
  if (homes.some(below) && clean.split("/").some((part) => part.startsWith("."))) {
    return "is in a hidden folder of a home, where keys and tokens are"
  }
  // A home or a temporary folder may stand below a refused tree; what is in it is the user's to give.
  if (tree !== undefined && ![...homes, tmpdir()].some(below)) return `is in ${tree}, which is the host's own`
  const parent = homes.find((home) => home.startsWith(`${clean}/`))
  return parent === undefined ? undefined : "holds a home folder, where keys and tokens are"
}

function refused(path: string, reason: string, options?: ErrorOptions): GloveboxError {
  return new GloveboxError(
    "POLICY_MOUNT_REFUSED",
    `The mount of ${path} is refused: it ${reason}. Copy what the code needs into a folder of its own and mount that.`,
    options,
  )
}
