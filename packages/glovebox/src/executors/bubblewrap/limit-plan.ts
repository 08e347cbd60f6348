import { GloveboxError } from "../../core/index.ts"
import type { PolicyFields } from "../../policy/index.ts"
import type { Controller } from "./cgroup-places.ts"

/** What this machine has to keep limits with. */
export interface LimitMeans {
  readonly controllers: readonly Controller[]
  /** Whether tmpfs can be mounted with a number of files. */
  readonly canMount: boolean
  /** Files that a tmpfs of this machine holds when nobody says how many. */
  readonly tmpfsFiles: number
  readonly hasTaskset: boolean
  /** Processors this process may use. */
  readonly processors: readonly number[]
  /** As the kernel names itself. */
  readonly kernel: string
}

/** By what each limit is kept. */
export interface LimitPlan {
  readonly memory: "cgroup" | "rlimit"
  readonly pids: "cgroup" | "rlimit"
  readonly cpus: "cgroup" | "affinity" | "all"
  readonly files: "tmpfs" | "memory" | "all"
  /** What is kept only in part, or by another limit, in words. */
  readonly indirect: readonly string[]
}

/** Chooses the strongest means for each limit; one that cannot be kept at all is refused. */
export function planLimits({ limits }: PolicyFields, means: LimitMeans): LimitPlan {
  const has = (controller: Controller): boolean => means.controllers.includes(controller)
  const memory = has("memory") ? "cgroup" : "rlimit"
  const pids = has("pids") ? "cgroup" : "rlimit"
  if (pids === "rlimit" && !countsByNamespace(means.kernel)) {
    throw unenforceable(
      "limits.pids",
      `no pids cgroup can be written, and the kernel ${means.kernel} counts the processes of a user for all sandboxes together (5.14 and later do not)`,
      "There is no value that widens this: give the executor a cgroup.",
    )
  }
  const cpus = has("cpu") ? "cgroup" : cpusWithout(limits.cpus, means)
  const files = means.canMount ? "tmpfs" : filesWithout(limits.files, memory, means)
  return { memory, pids, cpus, files, indirect: indirectOf({ memory, cpus, files }) }
}

function cpusWithout(cpus: number, { processors, hasTaskset }: LimitMeans): "affinity" | "all" {
  if (cpus >= processors.length) return "all"
  if (!hasTaskset) {
    throw unenforceable(
      "limits.cpus",
      "no cpu cgroup can be written, and there is no taskset to keep the sandbox to some processors",
      `Install util-linux, or allow all: limits.cpus: ${processors.length}.`,
    )
  }
  if (Number.isInteger(cpus)) return "affinity"
  throw unenforceable(
    "limits.cpus",
    `no cpu cgroup can be written, and without one only whole processors can be given, not ${cpus}`,
    `Use limits.cpus: ${Math.ceil(cpus)}.`,
  )
}

function filesWithout(
  files: number,
  memory: "cgroup" | "rlimit",
  { tmpfsFiles }: LimitMeans,
): "memory" | "all" {
  if (files >= tmpfsFiles) return "all"
  // Each file takes memory of the kernel, which the cgroup counts.
  if (memory === "cgroup") return "memory"
  throw unenforceable(
    "limits.files",
    "tmpfs cannot be mounted here with a number of files (unshare and mount of util-linux do that), and no memory cgroup bounds them",
    `Allow as many as a tmpfs of this machine holds: limits.files: ${tmpfsFiles}.`,
  )
}

function indirectOf({ memory, cpus, files }: Pick<LimitPlan, "memory" | "cpus" | "files">): string[] {
  return [
    ...(memory === "rlimit"
      ? [
          "limits.memory: bounds each process (RLIMIT_AS), not all of them together, which limits.pids multiplies; memory of the kernel itself is not bounded",
        ]
      : []),
    ...(cpus === "affinity"
      ? ["limits.cpus: the sandbox is kept to so many processors, which others use too"]
      : []),
    ...(files === "memory"
      ? ["limits.files: the workspace's files are not counted here, and are bounded by limits.memory alone"]
      : []),
  ]
}

// Before 5.14 RLIMIT_NPROC counted a user's processes on the whole machine.
function countsByNamespace(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split(/[.-]/).map(Number)
  return major > 5 || (major === 5 && minor >= 14)
}

function unenforceable(what: string, why: string, remedy: string): GloveboxError {
  return new GloveboxError(
    "SANDBOX_UNENFORCEABLE",
    `${what} cannot be enforced here: ${why}. ${remedy} A cgroup that this user may write (option cgroup) keeps all limits.`,
  )
}
