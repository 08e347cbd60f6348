import { GloveboxError } from "../../core/index.ts"
import type { PolicyFields } from "../../policy/index.ts"
import { seccompProfile } from "../sandbox/seccomp-profile.ts"
import type { CallRule } from "./call-rules.ts"
import type { LimitPlan } from "./limit-plan.ts"
import { readProfile } from "./read-profile.ts"
import { ALLOW, failWith, seccompFilter } from "./seccomp-filter.ts"
import { filterArchitecture } from "./syscall-table.ts"

const EPERM = 1
const ENOSYS = 38

/** The filters of a policy, in the order in which bwrap is to load them. */
export function sandboxFilters(
  { seccomp }: PolicyFields,
  plan: Pick<LimitPlan, "memory" | "cpus">,
  processor: string,
  kernel: string,
): Buffer[] {
  const architecture = filterArchitecture(processor)
  const isOpen = seccomp !== "strict" && "dangerously" in seccomp
  const supporting = supportingRules(plan)
  if (isOpen && supporting.length === 0) return []
  if (!architecture) {
    throw new GloveboxError(
      "SANDBOX_UNENFORCEABLE",
      `There is no seccomp filter for ${processor} processors. Use Docker, or go without a filter (seccomp: { dangerously: unconfined }) where limits are kept by cgroups.`,
    )
  }
  const filters: Buffer[] = []
  // First, because the other may forbid to load any more.
  if (supporting.length > 0) {
    filters.push(seccompFilter({ calls: supporting, otherwise: ALLOW }, architecture))
  }
  if (!isOpen) {
    const profile = seccomp === "strict" ? seccompProfile(architecture.docker) : seccomp.profile
    filters.push(seccompFilter(readProfile(profile, architecture, kernel), architecture))
  }
  return filters
}

// Ways around limits that are kept without a cgroup.
function supportingRules({ memory, cpus }: Pick<LimitPlan, "memory" | "cpus">): CallRule[] {
  return [
    ...(cpus === "affinity" ? refuse(EPERM, ["sched_setaffinity"]) : []),
    // Memory that belongs to no process, so that no limit of a process counts it.
    ...(memory === "rlimit"
      ? refuse(ENOSYS, ["memfd_create", "memfd_secret", "shmget", "msgget", "mq_open"])
      : []),
  ]
}

function refuse(errno: number, names: readonly string[]): CallRule[] {
  return names.map((name) => ({ name, tests: [], verdict: failWith(errno) }))
}
