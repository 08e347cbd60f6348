import { inside } from "./define-probe.ts"
import type { Probe } from "./probe.ts"
import { filtered } from "./promises.ts"
import { ALL_POWERS, type Weakening } from "./weakening.ts"

interface SystemCall {
  readonly id: string
  readonly title: string
  readonly why: string
  readonly attack: string
  /** What else than the filter it needs. */
  readonly capability?: string
  readonly given?: () => Readonly<Record<string, unknown>>
  /** Whether kernels refuse it to users without powers, filter or not. */
  readonly isOftenRefused?: boolean
  readonly quick?: boolean
}

const CALLS: readonly SystemCall[] = [
  {
    id: "user-namespace",
    isOftenRefused: true,
    title: "make a user namespace of its own, by unshare",
    why: "root of a namespace reaches parts of the kernel that flaws were in (CVE-2022-0185)",
    attack: "user_namespace",
    quick: true,
  },
  {
    id: "cloned-namespace",
    isOftenRefused: true,
    title: "the same by clone3, whose flags no filter can see",
    why: "a filter that knows only clone is passed by",
    attack: "cloned_namespace",
    quick: true,
  },
  {
    id: "enter-namespace",
    title: "enter a namespace",
    why: "the host's are namespaces too",
    attack: "enter_namespace",
    capability: "SYS_ADMIN",
  },
  {
    id: "mount",
    title: "mount a file system",
    why: "what mounts can mount the host's disk",
    attack: "mount_something",
    capability: "SYS_ADMIN",
    given: () => ({ folder: "/tmp" }),
    quick: true,
  },
  {
    id: "new-mount-calls",
    title: "mount by the newer calls: fsopen, open_tree, mount_setattr",
    why: "filters that list what to refuse have never heard of them",
    attack: "new_mount_calls",
    capability: "SYS_ADMIN",
    quick: true,
  },
  {
    id: "unmount",
    title: "take a mount away",
    why: "what hides files of the kernel is a mount",
    attack: "unmount_something",
    capability: "SYS_ADMIN",
  },
  {
    id: "trace",
    title: "be traced, which is how one process gets to rule another",
    why: "the agent has the same user",
    attack: "traced",
    quick: true,
  },
  {
    id: "trace-agent",
    title: "trace process 1, the agent",
    why: "who rules the agent speaks to the host in its place",
    attack: "trace_agent",
    capability: "SYS_PTRACE",
    quick: true,
  },
  {
    id: "foreign-memory",
    title: "read the memory of another process, by process_vm_readv",
    why: "the agent has the same user",
    attack: "foreign_memory",
    quick: true,
  },
  {
    id: "foreign-files",
    title: "take an open file of another process, by pidfd_getfd",
    why: "the agent's stream to the host is such a file",
    attack: "foreign_descriptors",
  },
  {
    id: "perf",
    title: "open a performance counter",
    why: "counters tell of other processes, and the call has had flaws",
    attack: "perf_events",
    capability: "PERFMON",
  },
  {
    id: "userfaultfd",
    isOftenRefused: true,
    title: "handle its own page faults",
    why: "with it a race in the kernel is easy to win",
    attack: "fault_handler",
  },
  {
    id: "io-uring",
    isOftenRefused: true,
    title: "make an io_uring",
    why: "no filter sees what is done through it, and it has had many flaws",
    attack: "ring",
    quick: true,
  },
  {
    id: "keyrings",
    title: "reach a keyring of the kernel",
    why: "keyrings are not kept apart by namespaces",
    attack: "keyrings",
    quick: true,
  },
  {
    id: "load-code",
    title: "load code into the kernel: a module, another kernel, a program of BPF",
    why: "it is the host's kernel",
    attack: "load_code",
    capability: "SYS_ADMIN",
    quick: true,
  },
  {
    id: "rule-machine",
    title: "set the clock, turn swap or accounting on",
    why: "they are the host's, for all of its processes",
    attack: "rule_machine",
    capability: "SYS_ADMIN",
  },
  {
    id: "log",
    title: "read the kernel's log",
    why: "it tells of the host, and where its kernel is in memory",
    attack: "kernel_log",
    capability: "SYSLOG",
  },
  {
    id: "host-name",
    title: "set the host name",
    why: "with the host's own namespace it would be the host's",
    attack: "host_name",
    capability: "SYS_ADMIN",
  },
  {
    id: "personality",
    title: "turn the randomness of addresses off",
    why: "it makes flaws of other programs easier to use",
    attack: "odd_personality",
  },
  {
    id: "terminal",
    title: "type into a terminal as if its user did",
    why: "a terminal that is shared with the host runs what is typed (CVE-2017-5226)",
    attack: "type_into_terminal",
    capability: "SYS_ADMIN",
  },
]

/** Calls that reach parts of the kernel that programs do not need. */
export const SYSTEM_CALL_PROBES: readonly Probe[] = CALLS.map(
  ({ id, capability, isOftenRefused = false, ...call }) => {
    const needsPowers = capability !== undefined || isOftenRefused
    const weakened: readonly Weakening[] = needsPowers ? ALL_POWERS : ["seccomp-unconfined"]
    return inside("kernel", {
      ...call,
      id: `kernel.${id}`,
      expects: filtered(capability),
      weakened,
      onKernel: true,
    })
  },
)
