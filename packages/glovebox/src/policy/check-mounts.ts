import { realpath } from "node:fs/promises"
import { homedir, tmpdir, userInfo } from "node:os"
import { dirname, isAbsolute, normalize } from "node:path"
import { GloveboxError } from "../core/index.ts"
import type { SandboxPolicy } from "./sandbox-policy.ts"

// What is in these is the host's own: its configuration, its state, its kernel.
const REFUSED_TREES = [
  "/etc",
  "/proc",
  "/sys",
  "/dev",
  "/boot",
  "/var",
  "/run",
  "/root",
  "/private/etc",
  "/private/var",
]
// The folder itself gives everything below it; a folder inside is the user's choice.
const REFUSED_FOLDERS = new Set(
  "/ /home /Users /usr /bin /sbin /lib /lib64 /opt /srv /mnt /media /private".split(" "),
)
const ENGINE_SOCKETS = /(?:^|\/)(?:docker|podman|containerd|crio|buildkitd)\.sock$/
const HOMES = ["/home", "/Users"]

export interface CheckMountsOptions {
  /** @default the home of this process's user */
  readonly home?: string | undefined
  /** The mounts are of another machine: their names are checked, and what they lead to is the engine's to say. */
  readonly isRemote?: boolean | undefined
}

interface Places {
  /** Homes of users, and the folders that homes are in. */
  readonly homes: readonly string[]
  readonly homeParents: readonly string[]
  /** Below a refused tree, but the user's own. */
  readonly exempt: readonly string[]
}

/** Refuses mounts that would hand the host to the sandbox, also through a link, and sources that do not exist. */
export async function checkMounts(policy: SandboxPolicy, options: CheckMountsOptions = {}): Promise<void> {
  const places = await findPlaces(options.home)
  for (const { source } of policy.fields.mounts) {
    const resolved = options.isRemote
      ? clean(source)
      : await realpath(source).catch((cause: unknown) => {
          throw refused(source, "does not exist, or cannot be read", { cause })
        })
    for (const path of new Set([clean(source), resolved])) {
      const reason = dangerOf(path, places)
      const through = path === clean(source) ? "" : ` (${source} leads there)`
      if (reason !== undefined) throw refused(path, `${reason}${through}`)
    }
  }
}

async function findPlaces(home: string | undefined): Promise<Places> {
  // An unset HOME is an empty text, which every path would start with.
  const candidates = [home ?? homedir(), accountHome()]
  const named = candidates.filter((path) => isAbsolute(path) && clean(path) !== "/").map(clean)
  const homes = [...named, ...(await Promise.all(named.map(real)))]
  const parents = homes.map((path) => dirname(path)).filter((path) => path !== "/")
  const temporary = [clean(tmpdir()), await real(tmpdir())].filter((path) => path !== "/")
  return {
    homes,
    homeParents: [...HOMES, ...parents],
    exempt: [...temporary, ...homes.filter((path) => path === "/root")],
  }
}

// A user without an account, as in many containers, has none.
function accountHome(): string {
  try {
    return userInfo().homedir
  } catch {
    return ""
  }
}

async function real(path: string): Promise<string> {
  return realpath(path).catch(() => clean(path))
}

function clean(path: string): string {
  const normal = normalize(path).replace(/^\/+/, "/")
  return normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal
}

function dangerOf(path: string, { homes, homeParents, exempt }: Places): string | undefined {
  const isIn = (folder: string): boolean => path.startsWith(`${folder}/`)
  if (ENGINE_SOCKETS.test(path)) return "is the socket of an engine, which gives the whole host"
  if (REFUSED_FOLDERS.has(path)) return "is a folder of the system"
  const tree = REFUSED_TREES.find((root) => path === root || isIn(root))
  if (tree !== undefined && !exempt.some(isIn)) return `is in ${tree}, which is the host's own`
  if (homes.includes(path) || homeParents.includes(dirname(path))) {
    return "is a home folder, where keys and tokens are"
  }
  if (homes.some((home) => home.startsWith(`${path}/`)))
    return "holds a home folder, where keys and tokens are"
  const parent = [...homes.filter((home) => home === "/root"), ...homeParents].find(isIn)
  const isHidden = parent !== undefined && path.slice(parent.length).includes("/.")
  return isHidden ? "is in a hidden folder of a home, where keys and tokens are" : undefined
}

function refused(path: string, reason: string, options?: ErrorOptions): GloveboxError {
  return new GloveboxError(
    "POLICY_MOUNT_REFUSED",
    `The mount of ${path} is refused: it ${reason}. Copy what the code needs into a folder of its own and mount that.`,
    options,
  )
}
