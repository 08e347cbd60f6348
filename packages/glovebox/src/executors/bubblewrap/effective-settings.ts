import { GloveboxError } from "../../core/index.ts"
import type { PolicyFields } from "../../policy/index.ts"
import type { Facts } from "../sandbox/agent-answers.ts"
import { wholePages } from "../sandbox/whole-pages.ts"
import { WORKSPACE } from "../sandbox/workspace-folder.ts"
import type { KernelView } from "./kernel-view.ts"
import type { LimitPlan } from "./limit-plan.ts"
import type { Identity } from "./machine.ts"
import { PROCESSES_OUTSIDE, cpuQuota } from "./sandbox-cgroup.ts"

export interface EffectiveInput {
  readonly policy: PolicyFields
  readonly plan: LimitPlan
  /** What the agent says of its confinement. */
  readonly facts: Facts
  /** What the kernel says of the agent. */
  readonly view: KernelView
  /** Who it is to be on this machine. */
  readonly identity: Identity
  /** How many filters were given. */
  readonly filters: number
  readonly runtime: string
}

/** The wall as it stands; a sandbox in which anything differs from what was asked is refused. */
export function effectiveSettings(input: EffectiveInput): Readonly<Record<string, unknown>> {
  const { policy, plan, facts, view } = input
  const { limits } = policy
  const differences: string[] = []
  const check = (setting: string, effective: unknown, asked: unknown): void => {
    const [found, wanted] = [JSON.stringify(effective), JSON.stringify(asked)]
    if (found !== wanted) differences.push(`${setting} is ${found} instead of ${wanted}`)
  }
  check("user", `${facts.uid}:${facts.gid}`, policy.user)
  check("user on this machine", `${view.uid}:${view.gid}`, `${input.identity.uid}:${input.identity.gid}`)
  check("namespaces shared with this machine", view.shared, [])
  check(
    "network interfaces",
    (facts.interfaces ?? []).filter((name) => name !== "lo"),
    [],
  )
  check("the root's read-only flag", facts.root.readOnly, true)
  check("NoNewPrivs", facts.status["NoNewPrivs"], "1")
  for (const name of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"]) {
    check(name, BigInt(`0x${facts.status[name] ?? "f"}`) === 0n, true)
  }
  if (input.filters > 0) check("Seccomp", facts.status["Seccomp"], "2")
  if (view.seccompFilters !== undefined) {
    check("seccomp filters", view.seccompFilters >= input.filters, true)
  }
  check("core files", view.coreFile, 0)
  if (!policy.mounts.some(({ target }) => target === WORKSPACE)) {
    check("workspace within its bytes", isWithin(facts.workspace.bytes, limits.workspace), true)
    if (plan.files !== "memory") {
      check("workspace within its files", isWithin(facts.workspace.files, limits.files), true)
    }
  }
  const bytes = wholePages(limits.memory)
  if (plan.memory === "cgroup") check("memory limit of the cgroup", facts.cgroup.memory, bytes)
  else check("RLIMIT_AS", view.addressSpace, Math.floor(limits.memory / 1024) * 1024)
  if (plan.pids === "cgroup") {
    check("process limit of the cgroup", facts.cgroup.pids, limits.pids + PROCESSES_OUTSIDE)
  } else check("RLIMIT_NPROC", view.processes, limits.pids)
  if (plan.cpus === "cgroup") check("processor share of the cgroup", facts.cgroup.cpus, cpuQuota(limits.cpus))
  if (plan.cpus === "affinity") check("processors", view.processors, limits.cpus)
  if (differences.length > 0) {
    throw new GloveboxError(
      "SANDBOX_UNENFORCEABLE",
      `bwrap made a sandbox that differs from the policy, so nothing runs in it: ${differences.join("; ")}.`,
    )
  }
  const { memory, pids, cpus, files, indirect } = plan
  return {
    runtime: input.runtime,
    user: policy.user,
    hostUser: `${view.uid}:${view.gid}`,
    network: "none",
    readOnlyRoot: true,
    capabilities: [],
    noNewPrivileges: true,
    seccompFilters: input.filters,
    memory: limits.memory,
    cpus: limits.cpus,
    pids: limits.pids,
    // By what each limit is kept.
    enforcement: { memory, pids, cpus, files },
    indirect,
    kernel: {
      ...facts.status,
      interfaces: facts.interfaces,
      readOnlyRoot: facts.root.readOnly,
      workspace: facts.workspace,
      cgroup: facts.cgroup,
    },
  }
}

// A page more is how the kernel rounds.
function isWithin(found: number | null, limit: number): boolean {
  return found !== null && found > 0 && found <= limit + 4096
}
