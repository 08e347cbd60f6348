import { lstat, readdir, readlink, realpath } from "node:fs/promises"
import { join } from "node:path"
import { GloveboxError } from "../../core/index.ts"

/** A part of the tree that the sandbox sees, read-only. */
export type TreeEntry =
  | { readonly kind: "bind"; readonly source: string; readonly target: string }
  | { readonly kind: "link"; readonly to: string; readonly target: string }

// Where programs and libraries are; on most systems all but the first are links into it.
const SYSTEM = ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"]
// Neither tells anything of the host but which programs it has: where libraries are, and which of several a name means.
const SETTINGS = ["/etc/ld.so.cache", "/etc/alternatives"]
// The sandbox has its own of these.
const OWN = new Set(["proc", "dev", "sys", "tmp", "run", "workspace"])

/** The programs of this machine, or all of another tree. */
export async function systemTree(root: string | undefined): Promise<TreeEntry[]> {
  if (root === undefined) {
    const system = await entries("/", SYSTEM)
    return [
      ...system,
      ...(await entries(
        "/",
        SETTINGS.map((path) => path.slice(1)),
      )),
    ]
  }
  const resolved = await realpath(root).catch((cause: unknown) => {
    throw refused(root, "it cannot be read", cause)
  })
  if (resolved === "/") throw refused(root, "it is this machine's own root, with all that is in it")
  const names = await readdir(resolved).catch((cause: unknown) => {
    throw refused(root, "it is no folder that can be read", cause)
  })
  if (!names.includes("usr") && !names.includes("bin")) {
    throw refused(root, "it has neither usr nor bin, so it holds no system")
  }
  return entries(
    resolved,
    names.filter((name) => !OWN.has(name)),
  )
}

async function entries(root: string, names: readonly string[]): Promise<TreeEntry[]> {
  const found = await Promise.all(names.map(async (name) => entry(join(root, name), `/${name}`)))
  return found.filter((one) => one !== undefined)
}

async function entry(source: string, target: string): Promise<TreeEntry | undefined> {
  const status = await lstat(source).catch(() => undefined)
  if (!status) return undefined
  if (status.isSymbolicLink()) return { kind: "link", to: await readlink(source), target }
  return status.isDirectory() || status.isFile() ? { kind: "bind", source, target } : undefined
}

function refused(root: string, reason: string, cause?: unknown): GloveboxError {
  return new GloveboxError(
    "OPTION_INVALID",
    `root: ${root} cannot be the sandbox's tree: ${reason}. Name the folder of a tree with usr, such as one that debootstrap makes.`,
    { cause },
  )
}
