import type { PolicyFields } from "../../policy/index.ts"
import { type Control, bwrapControls } from "./bwrap-arguments.ts"
import { FIRST_DATA_FD, INFO_FD, launchCommand, placesBelow } from "./launch-command.ts"
import type { LimitPlan } from "./limit-plan.ts"
import type { Machine } from "./machine.ts"
import type { OwnFile } from "./own-files.ts"
import type { ProcessPlan } from "./sandbox-process.ts"
import type { TreeEntry } from "./system-tree.ts"

export interface ProcessPlanInput {
  readonly machine: Pick<Machine, "bwrap" | "mountBase" | "identity" | "hidden" | "means">
  readonly policy: PolicyFields
  readonly plan: LimitPlan
  readonly filters: readonly Buffer[]
  readonly tree: readonly TreeEntry[]
  readonly files: readonly OwnFile[]
  readonly cgroup: readonly { readonly source: string; readonly target: string }[]
  readonly env: Readonly<Record<string, string>>
  readonly agent: readonly string[]
  /** Which launch this is: sandboxes take turns with the processors they are kept to. */
  readonly turn: number
  /** What becomes of the wall's parts, for a test of what each of them is for. @default nothing */
  readonly alter?: ((controls: readonly Control[]) => readonly Control[]) | undefined
}

/** Everything that is needed to start the process that becomes a sandbox. */
export function planProcess(input: ProcessPlanInput): ProcessPlan {
  const { machine, policy, plan, filters, files } = input
  const firstFile = FIRST_DATA_FD + 1 + filters.length
  const mountBase = plan.files === "tmpfs" ? machine.mountBase : undefined
  const controls = bwrapControls({
    policy,
    tree: input.tree,
    filters: filters.map((_, index) => FIRST_DATA_FD + 1 + index),
    files: files.map(({ path }, index) => ({ fd: firstFile + index, path })),
    infoFd: INFO_FD,
    cgroup: input.cgroup,
    places: mountBase === undefined ? undefined : placesBelow(mountBase),
    hidden: machine.hidden,
    env: input.env,
  })
  const args = (input.alter?.(controls) ?? controls).flatMap((control) => control.args)
  return {
    command: launchCommand({
      bwrap: machine.bwrap.path,
      argsFd: FIRST_DATA_FD,
      policy,
      mountBase,
      processors: plan.cpus === "affinity" ? turnOf(input) : undefined,
      addressSpace: plan.memory === "rlimit" ? policy.limits.memory : undefined,
      processes: plan.pids === "rlimit" ? policy.limits.pids : undefined,
      agent: input.agent,
    }),
    // Not in the command line, which every user of the machine can read.
    data: [
      Buffer.from(args.map((word) => `${word}\0`).join(""), "utf8"),
      ...filters,
      ...files.map(({ content }) => Buffer.from(content, "utf8")),
    ],
    identity: machine.identity,
  }
}

// So many of the processors, beginning with another one each time.
function turnOf({ machine, policy, turn }: ProcessPlanInput): string {
  const { processors } = machine.means
  return Array.from(
    { length: policy.limits.cpus },
    (_, index) => processors[(turn + index) % processors.length],
  ).join(",")
}
