import type { PolicyFields } from "../../policy/index.ts"
import { WORKSPACE } from "../sandbox/workspace-folder.ts"
import type { TreeEntry } from "./system-tree.ts"

/** Arguments of bwrap that belong together, under the name of what they keep out. */
export interface Control {
  readonly name: string
  readonly args: readonly string[]
}

export interface BwrapInput {
  readonly policy: PolicyFields
  readonly tree: readonly TreeEntry[]
  /** Files made up for the sandbox, by the number of the stream that their content comes from. */
  readonly files: readonly { readonly fd: number; readonly path: string }[]
  /** Streams that filters come from; the last is the widest. */
  readonly filters: readonly number[]
  /** Where bwrap tells of the process it made. */
  readonly infoFd: number
  /** Folders of the sandbox's own cgroup, by the place where the agent looks for them. */
  readonly cgroup: readonly { readonly source: string; readonly target: string }[]
  /** Where the writable places are mounted already; else bwrap makes them, without a bound on files. */
  readonly places: WritablePlaces | undefined
  /** Files of /proc that tell of the host. */
  readonly hidden: readonly string[]
  /** Variables beneath those of the policy. */
  readonly env: Readonly<Record<string, string>>
}

/** The host's paths of what the sandbox can write. */
export interface WritablePlaces {
  readonly workspace: string
  readonly tmp: string
  readonly shm: string
}

const TMP_BYTES = 64 * 1024 ** 2
const TMP_FILES = 16_384

/** How much each writable place holds. */
export function placeLimits({ limits }: PolicyFields): {
  readonly [Place in keyof WritablePlaces]: { readonly bytes: number; readonly files: number }
} {
  const small = { bytes: Math.min(TMP_BYTES, limits.workspace), files: Math.min(TMP_FILES, limits.files) }
  return { workspace: { bytes: limits.workspace, files: limits.files }, tmp: small, shm: small }
}

/** The whole wall as bwrap is told of it: nothing is left to its defaults. */
export function bwrapControls(input: BwrapInput): Control[] {
  const { policy } = input
  const [uid = "", gid = ""] = policy.user.split(":")
  return [
    { name: "user namespace", args: ["--unshare-user", "--uid", uid, "--gid", gid] },
    { name: "no further user namespaces", args: ["--disable-userns", "--assert-userns-disabled"] },
    { name: "process namespace", args: ["--unshare-pid", "--as-pid-1"] },
    { name: "network namespace", args: ["--unshare-net"] },
    { name: "ipc namespace", args: ["--unshare-ipc"] },
    { name: "host name", args: ["--unshare-uts", "--hostname", "sandbox"] },
    { name: "cgroup namespace", args: ["--unshare-cgroup"] },
    { name: "capabilities", args: ["--cap-drop", "ALL"] },
    { name: "session", args: ["--new-session"] },
    { name: "end with parent", args: ["--die-with-parent"] },
    { name: "environment", args: ["--clearenv"] },
    { name: "variables", args: variables(input) },
    { name: "tree", args: input.tree.flatMap(treeArguments) },
    {
      name: "own files",
      args: input.files.flatMap(({ fd, path }) => ["--perms", "0444", "--file", String(fd), path]),
    },
    {
      name: "processes",
      args: ["--proc", "/proc", ...input.hidden.flatMap((path) => ["--ro-bind", "/dev/null", path])],
    },
    { name: "devices", args: ["--dev", "/dev"] },
    { name: "cgroup", args: input.cgroup.flatMap(({ source, target }) => ["--ro-bind", source, target]) },
    { name: "writable places", args: writablePlaces(input) },
    {
      name: "mounts",
      args: policy.mounts.flatMap(({ source, target, mode }) => [
        mode === "ro" ? "--ro-bind" : "--bind",
        source,
        target,
      ]),
    },
    { name: "read-only devices", args: ["--remount-ro", "/dev"] },
    { name: "read-only root", args: ["--remount-ro", "/"] },
    // Not the workspace: with a folder mounted there, Python would look into it before the agent has begun.
    { name: "folder", args: ["--chdir", "/"] },
    { name: "filter", args: input.filters.flatMap((fd) => ["--add-seccomp-fd", String(fd)]) },
    { name: "report", args: ["--info-fd", String(input.infoFd)] },
  ]
}

function variables({ policy, env }: BwrapInput): string[] {
  const all: Record<string, string> = {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: WORKSPACE,
    LANG: "C.UTF-8",
    ...env,
    ...policy.env,
  }
  // Both lead to modules: the policy's own must not hide the functions.
  const modules = [env["PYTHONPATH"], policy.env["PYTHONPATH"]].filter(Boolean).join(":")
  if (modules !== "") all["PYTHONPATH"] = modules
  return Object.entries(all).flatMap(([name, value]) => ["--setenv", name, value])
}

function treeArguments(entry: TreeEntry): string[] {
  return entry.kind === "link"
    ? ["--symlink", entry.to, entry.target]
    : ["--ro-bind", entry.source, entry.target]
}

function writablePlaces({ policy, places }: BwrapInput): string[] {
  const limits = placeLimits(policy)
  const mounted = new Set(policy.mounts.map(({ target }) => target))
  const targets = { workspace: WORKSPACE, tmp: "/tmp", shm: "/dev/shm" }
  return (["workspace", "tmp", "shm"] as const).flatMap((name) => {
    const target = targets[name]
    if (mounted.has(target)) return []
    return places
      ? ["--bind", places[name], target]
      : ["--perms", "0700", "--size", String(limits[name].bytes), "--tmpfs", target]
  })
}
