import type { PolicyFields } from "../../policy/index.ts"
import { type WritablePlaces, placeLimits } from "./bwrap-arguments.ts"

/** Streams of the launched process beside the standard ones. */
export const GATE_FD = 3
export const INFO_FD = 4
export const FIRST_DATA_FD = 5

export interface LaunchCommandInput {
  /** bwrap's path, and the streams its arguments come from. */
  readonly bwrap: string
  readonly argsFd: number
  readonly policy: PolicyFields
  /** The folder of the host, hidden for this sandbox alone, under which the writable places are mounted first. */
  readonly mountBase: string | undefined
  /** Processors to keep to, as taskset takes them. */
  readonly processors: string | undefined
  /** The most memory of each process, where no cgroup bounds all of them. */
  readonly addressSpace: number | undefined
  /** The most processes, where no cgroup bounds them. */
  readonly processes: number | undefined
  /** The sandbox's first process. */
  readonly agent: readonly string[]
}

/** The writable places below a base. */
export function placesBelow(base: string): WritablePlaces {
  return { workspace: `${base}/w`, tmp: `${base}/t`, shm: `${base}/s` }
}

/** The command that becomes the sandbox: it waits at the gate, sets limits, mounts, and ends up as bwrap. */
export function launchCommand(input: LaunchCommandInput): string[] {
  const { processors, mountBase, bwrap, argsFd } = input
  return [
    ...(processors === undefined ? [] : ["taskset", "-c", processors]),
    // Root in a namespace of its own, and nowhere else: enough to mount there.
    ...(mountBase === undefined ? [] : ["unshare", "--user", "--map-root-user", "--mount", "--"]),
    "sh",
    "-c",
    script(input),
    "sh",
    bwrap,
    "--args",
    String(argsFd),
    "--",
    ...insideCommand(input),
  ]
}

function script(input: LaunchCommandInput): string {
  const { mountBase, addressSpace, policy } = input
  const lines = [
    // By now the host has put this process into its cgroup; if it died instead, this is the end too.
    `IFS= read -r go <&${GATE_FD} || exit 125`,
    `exec ${GATE_FD}<&-`,
    // Core files would be the host's business; a limit that is lower already may stay.
    "ulimit -c 0",
    "ulimit -S -n 1024 2>/dev/null",
    "ulimit -H -n 4096 2>/dev/null",
    ...(addressSpace === undefined ? [] : [`ulimit -v ${Math.floor(addressSpace / 1024)} || exit 125`]),
    ...(mountBase === undefined ? [] : mountLines(mountBase, policy)),
    'exec "$@"',
  ]
  return lines.join("\n")
}

function mountLines(base: string, policy: PolicyFields): string[] {
  const places = placesBelow(base)
  const limits = placeLimits(policy)
  return [
    mountLine("size=64k,nr_inodes=16,mode=0755", base),
    `mkdir ${places.workspace} ${places.tmp} ${places.shm} || exit 125`,
    ...(["workspace", "tmp", "shm"] as const).map((name) =>
      mountLine(`size=${limits[name].bytes},nr_inodes=${limits[name].files},mode=0700`, places[name]),
    ),
  ]
}

function mountLine(options: string, folder: string): string {
  return `mount -t tmpfs -o ${options},nosuid,nodev glovebox ${folder} || exit 125`
}

// Processes are counted in the user namespace that the limit is set in, so it must be the sandbox's own.
function insideCommand({ agent, processes }: LaunchCommandInput): string[] {
  if (processes === undefined) return [...agent]
  // The shells do not agree on the letter.
  const limit = `ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} || exit 125`
  return ["sh", "-c", `${limit}\nexec "$@"`, "sh", ...agent]
}
