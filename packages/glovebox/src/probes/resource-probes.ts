import type { PolicyInput } from "../policy/index.ts"
import { WORKSPACE } from "../policy/workspace-folder.ts"
import { CONTAINERS, inside, lab } from "./define-probe.ts"
import { type Finding, allowed, blocked, inconclusive } from "./finding.ts"
import type { Lab } from "./lab.ts"
import type { Probe, ProbeContext } from "./probe.ts"

const MiB = 1024 ** 2
// What a bomb may take of the machine when nothing holds it: no more than this.
const MOST = { memory: 1024 * MiB, workspace: 512 * MiB, files: 100_000, pids: 1024 } as const
const SMALL_PLACE = 64 * MiB
const SMALL_FILES = 16_384
// As little as a machine that is busy still has for it.
const TRIED_CPUS = 0.2

type Amount = keyof typeof MOST

/** The limits of the policy, those among them lowered that are too wide to be tried out. */
function bounded({ policy }: ProbeContext): Readonly<Record<Amount, number>> {
  const { limits } = policy
  return {
    memory: Math.min(limits.memory, MOST.memory),
    workspace: Math.min(limits.workspace, MOST.workspace),
    files: Math.min(limits.files, MOST.files),
    pids: Math.min(limits.pids, MOST.pids),
  }
}

function lowered(...names: readonly Amount[]): (context: ProbeContext) => PolicyInput["limits"] | undefined {
  return (context) => {
    const tried = bounded(context)
    const wide = names.filter((name) => tried[name] < context.policy.limits[name])
    return wide.length === 0 ? undefined : Object.fromEntries(wide.map((name) => [name, tried[name]]))
  }
}

const isMounted = ({ policy }: ProbeContext, place: string): boolean =>
  policy.mounts.some(({ target }) => target === place)

const unlessMounted =
  (place: string) =>
  (context: ProbeContext): "BLOCKED" | undefined =>
    isMounted(context, place) ? undefined : "BLOCKED"

/** Bombs, each with an end of its own, also where nothing holds it. */
export const RESOURCE_PROBES: readonly Probe[] = [
  inside("resources", {
    id: "res.processes",
    title: "fork without end",
    why: "a machine without room for a process cannot be helped",
    attack: "fork_bomb",
    given: (context) => ({ most: bounded(context).pids + 64 }),
    limits: lowered("pids"),
    seconds: 30,
    weakened: ["no-pids-limit"],
    quick: true,
    alone: true,
  }),
  inside("resources", {
    id: "res.threads",
    title: "start threads without end",
    why: "a limit that counts only processes is passed by",
    attack: "thread_bomb",
    given: (context) => ({ most: bounded(context).pids + 64 }),
    limits: lowered("pids"),
    seconds: 30,
    weakened: ["no-pids-limit"],
    alone: true,
  }),
  inside("resources", {
    id: "res.memory",
    title: "take memory without end",
    why: "a machine without memory kills processes, and not always the right one",
    attack: "memory_bomb",
    given: (context) => ({ most: bounded(context).memory + 64 * MiB, ...shared(context) }),
    limits: lowered("memory"),
    seconds: 60,
    weakened: ["no-memory-limit"],
    quick: true,
    alone: true,
  }),
  inside("resources", {
    id: "res.memory-files",
    title: "take memory by files that have no name",
    why: "such memory belongs to no process, and is not freed by killing one",
    attack: "memory_files",
    given: (context) => ({ most: bounded(context).memory + 64 * MiB, ...shared(context) }),
    limits: lowered("memory"),
    seconds: 60,
    weakened: ["no-memory-limit"],
    alone: true,
  }),
  inside("resources", {
    id: "res.workspace",
    title: "fill the workspace without end",
    why: "it is the machine's memory, or its disk",
    attack: "fill_place",
    given: (context) => ({
      folder: WORKSPACE,
      most: bounded(context).workspace + 32 * MiB,
      ...shared(context),
    }),
    limits: lowered("workspace"),
    expects: unlessMounted(WORKSPACE),
    seconds: 60,
    weakened: ["workspace-unbounded"],
    alone: true,
  }),
  inside("resources", {
    id: "res.workspace-files",
    title: "make files in the workspace without end",
    why: "each takes memory of the kernel, also an empty one",
    attack: "fill_names",
    given: (context) => ({ folder: WORKSPACE, most: bounded(context).files + 100 }),
    limits: lowered("files"),
    expects: (context) => (countsFiles(context) ? unlessMounted(WORKSPACE)(context) : undefined),
    seconds: 60,
    weakened: ["inodes-unbounded"],
    alone: true,
  }),
  inside("resources", {
    id: "res.tmp",
    title: "fill /tmp without end",
    why: "it is memory too",
    attack: "fill_place",
    given: (context) => ({ folder: "/tmp", most: smallPlace(context) + 16 * MiB, ...shared(context) }),
    expects: unlessMounted("/tmp"),
    weakened: ["tmp-unbounded"],
    alone: true,
  }),
  inside("resources", {
    id: "res.tmp-files",
    title: "make files in /tmp without end",
    why: "each takes memory of the kernel, also an empty one",
    attack: "fill_names",
    given: ({ policy }) => ({ folder: "/tmp", most: Math.min(policy.limits.files, SMALL_FILES) + 100 }),
    expects: (context) => (countsFiles(context) ? unlessMounted("/tmp")(context) : undefined),
    seconds: 30,
    weakened: ["tmp-inodes-unbounded"],
    alone: true,
  }),
  inside("resources", {
    id: "res.shared-memory",
    title: "fill shared memory without end",
    why: "it is memory that no limit of a process counts",
    attack: "fill_place",
    given: (context) => ({ folder: "/dev/shm", most: smallPlace(context) + 16 * MiB, ...shared(context) }),
    weakened: ["shm-unbounded"],
    alone: true,
  }),
  inside("resources", {
    id: "res.processors",
    title: "use more of the processors than it is given",
    why: "others wait for theirs meanwhile",
    attack: "use_processors",
    given: ({ policy }) => ({ cpus: Math.min(policy.limits.cpus, TRIED_CPUS), seconds: 8 }),
    // All of a machine's processors cannot be exceeded, so no try would tell.
    limits: ({ policy }) => (policy.limits.cpus > TRIED_CPUS ? { cpus: TRIED_CPUS } : undefined),
    expects: ({ facts }) => (facts.hasOwnKernel ? undefined : "BLOCKED"),
    seconds: 30,
    weakened: ["no-cpu-limit"],
    tiers: CONTAINERS,
    alone: true,
  }),
  inside("resources", {
    id: "res.open-files",
    title: "open files without end",
    why: "the kernel has a limit for the whole machine",
    attack: "open_files",
    given: () => ({ most: 5000 }),
    // It leaves nothing, but takes as long as all others that a sandbox is claimed with.
    gentle: false,
    weakened: ["no-ulimits"],
    tiers: CONTAINERS,
    quick: true,
  }),
  inside("resources", {
    id: "res.core-file",
    title: "leave a core file",
    why: "it is written by the host's handler, and holds all of the memory",
    attack: "core_file",
    weakened: ["no-ulimits"],
    quick: true,
  }),
  inside("resources", {
    id: "res.swap",
    title: "have swap beside its memory",
    why: "a limit of memory that swaps is a load on the host's disk",
    attack: "swap",
    expects: ({ facts }) => (facts.hasOwnKernel ? undefined : "BLOCKED"),
    weakened: ["swap"],
    tiers: CONTAINERS,
    quick: true,
  }),
  inside("resources", {
    id: "res.shortage",
    title: "be spared when the machine is short of memory",
    why: "then the host's own processes would be killed in its place",
    attack: "survive_shortage",
    given: () => ({ least: 1 }),
    expects: ({ facts }) => (facts.hasOwnKernel ? undefined : "BLOCKED"),
    weakened: ["no-oom-score"],
    tiers: CONTAINERS,
    quick: true,
  }),
  lab("resources", {
    id: "res.output",
    title: "print without end",
    why: "what the host keeps of it is the host's memory",
    careless: "the policy keeps all of it",
    run: printMuch,
  }),
  lab("resources", {
    id: "res.log",
    title: "have the engine keep what is printed",
    why: "a log grows on the engine's disk with every byte of output",
    tiers: CONTAINERS,
    weakened: ["log-driver"],
    run: findLog,
  }),
]

function shared({ facts }: ProbeContext): { readonly shared: boolean } {
  return { shared: !facts.hasOwnKernel }
}

function smallPlace({ policy }: ProbeContext): number {
  return Math.min(SMALL_PLACE, policy.limits.workspace)
}

function countsFiles({ facts }: ProbeContext): boolean {
  return !facts.hasOwnKernel
}

const PRINTED = 64 * MiB
const GROWTH = 48 * MiB

async function printMuch(one: Lab): Promise<Finding> {
  const kept = one.policy.limits.output
  if (kept > PRINTED / 4) return inconclusive("limits.output is too large to be tried out")
  const code = `import os
line = b"x" * (1 << 20)
for _ in range(${PRINTED / MiB}): os.write(1, line)`
  await using open = one.open({ limits: one.isControl ? { output: PRINTED } : {} })
  const before = one.memory()
  const { output, truncated } = await open.run(code)
  const growth = Math.max(0, one.memory() - before)
  const evidence = `${Math.round(output.length / 1024)} KiB of ${PRINTED / MiB} MiB were kept, and this process grew by ${Math.round(growth / MiB)} MiB`
  return output.length > kept * 1.1 || !truncated || growth > GROWTH + kept * 2
    ? allowed(evidence)
    : blocked(evidence)
}

async function findLog(one: Lab): Promise<Finding> {
  await using open = one.open({ isolation: "session" })
  const { sandbox } = await open.run(`print("${one.token}")`)
  if (sandbox.containerId === undefined) return inconclusive("there is no container")
  const log = await one.keptLog(sandbox.containerId)
  if (log === undefined) return blocked("the engine keeps no log of it")
  return log.includes(one.token)
    ? allowed(`the engine's log has what was printed, and ${log.length} characters in all`)
    : blocked("the engine's log is empty")
}
