import { CAPABILITY_NAMES } from "../policy/capability-names.ts"
import { CONTAINERS, inside } from "./define-probe.ts"
import type { Probe, ProbeContext } from "./probe.ts"
import { filtered, isRoot } from "./promises.ts"
import { SYSTEM_CALL_PROBES } from "./system-call-probes.ts"

/** Who the code is, what it holds, and what it sees of the host. */
const PRIVILEGE_PROBES: readonly Probe[] = [
  inside("kernel", {
    id: "kernel.root",
    title: "be root, by user or group",
    why: "most of what a kernel refuses, it does not refuse root",
    attack: "be_root",
    expects: (context) => (isRoot(context) || context.policy.user.endsWith(":0") ? "ALLOWED" : "BLOCKED"),
    weakened: ["root-user"],
    quick: true,
  }),
  inside("kernel", {
    id: "kernel.user",
    title: "be another user than the policy's",
    why: "files of the host that are mounted belong to users by number",
    attack: "be_another",
    given: ({ policy }) => ({ user: policy.user }),
    weakened: ["root-user"],
    quick: true,
  }),
  inside("kernel", {
    id: "kernel.groups",
    title: "be in a group beside its own",
    why: "the groups docker, disk and kvm are as good as root",
    attack: "other_groups",
    // The groups of this machine's user show as one that is nobody's.
    tiers: CONTAINERS,
    weakened: ["extra-group"],
    quick: true,
  }),
  inside("kernel", {
    id: "kernel.capabilities",
    title: "hold a capability, or be able to gain one",
    why: "each is a part of what root may do",
    attack: "capabilities",
    given: ({ policy }) => ({ granted: policy.capabilities.reduce((mask, name) => mask + bitOf(name), 0) }),
    expects: ({ policy }) => (policy.capabilities.some((name) => name === "ALL") ? undefined : "BLOCKED"),
    weakened: ["capabilities-kept"],
    quick: true,
  }),
  inside("kernel", {
    id: "kernel.new-privileges",
    title: "gain privileges by a setuid program",
    why: "every su, mount or ping of an image would make root of its user",
    attack: "new_privileges",
    weakened: ["new-privileges"],
    quick: true,
  }),
  inside("kernel", {
    id: "kernel.seccomp",
    title: "run without a filter of system calls",
    why: "most flaws of kernels are in calls that programs do not need",
    attack: "no_filter",
    // Such a kernel has a filter of its own, outside of what can be seen here.
    expects: ({ policy, facts }) =>
      facts.hasOwnKernel ? undefined : unconfined(policy.seccomp) ? "ALLOWED" : "BLOCKED",
    weakened: ["seccomp-unconfined"],
    quick: true,
  }),
  inside("kernel", {
    id: "kernel.host-processes",
    title: "see a process of the host",
    why: "what can be seen can be told of, and often signalled or read",
    weakened: ["host-pid"],
    quick: true,
    attack: "host_processes",
    watch: async (one) => ({
      // The other way round, so that the probe's own command does not have it.
      given: { reversed: one.token.split("").toReversed().join("") },
      ...(await one.hostProcess()),
    }),
  }),
  inside("kernel", {
    id: "kernel.cgroup-names",
    title: "see its own place among the host's cgroups",
    why: "it names the container, and the folder that an escape needs",
    attack: "cgroup_names",
    weakened: ["host-cgroupns"],
    quick: true,
  }),
  inside("kernel", {
    id: "kernel.own-kernel",
    title: "be on the host's own kernel, where the policy has a runtime with its own",
    why: "a runtime that is asked for and not used would be found out by nobody",
    attack: "host_kernel",
    given: ({ facts }) => ({ release: facts.hostKernel }),
    expects: ({ facts }) => (facts.hasOwnKernel && facts.hostKernel !== undefined ? "BLOCKED" : undefined),
    weakened: ["engine-runtime"],
    tiers: CONTAINERS,
  }),
  inside("kernel", {
    id: "kernel.better-turn",
    onKernel: true,
    title: "get a better turn at the processors",
    why: "a process in real time can starve a machine",
    attack: "better_turn",
    expects: filtered("SYS_NICE"),
    weakened: ["root-user", "all-capabilities", "seccomp-unconfined"],
  }),
]

export const KERNEL_PROBES: readonly Probe[] = [...PRIVILEGE_PROBES, ...SYSTEM_CALL_PROBES]

/** Capabilities that a policy grants have to be there: one probe for each. */
export function capabilityProbes({ policy }: ProbeContext): Probe[] {
  return policy.capabilities
    .filter((name) => bitOf(name) > 0)
    .map((name) =>
      inside("kernel", {
        id: `kernel.capability:${name}`,
        title: `have the capability ${name}, which the policy grants`,
        why: "the policy gives it to the code",
        attack: "one_capability",
        given: () => ({ bit: CAPABILITY_NAMES.indexOf(name.replace(/^CAP_/, "")) }),
        expects: () => "ALLOWED",
        tiers: CONTAINERS,
      }),
    )
}

function unconfined(seccomp: ProbeContext["policy"]["seccomp"]): boolean {
  return seccomp !== "strict" && "dangerously" in seccomp
}

function bitOf(name: string): number {
  const at = CAPABILITY_NAMES.indexOf(name.replace(/^CAP_/, ""))
  return at < 0 ? 0 : 2 ** at
}
