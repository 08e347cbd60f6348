import { CONTAINERS, lab } from "./define-probe.ts"
import { type Finding, allowed, blocked, inconclusive } from "./finding.ts"
import type { Lab, LabSandboxes } from "./lab.ts"
import type { Probe, ProbeContext } from "./probe.ts"
import { RESIDUE_PROBES } from "./residue-probes.ts"

const GONE_WITHIN_MS = 5_000
const SEEN_WITHIN_MS = 10_000
const LOOK_EVERY_MS = 25

/** Ends of runs, and what is left of them. */
export const LIFECYCLE_PROBES: readonly Probe[] = [
  lab("lifecycle", {
    id: "life.deadline",
    title: "run on past the deadline",
    why: "code that cannot be ended is on the machine for good",
    careless: "the deadline is later than the code takes",
    quick: true,
    run: async (one) => {
      const wall = one.isControl ? 20_000 : 400
      await using open = one.open({ limits: { wall } })
      const { termination, stdout } = await open.run(`import signal, time
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
end = time.monotonic() + 2
while time.monotonic() < end: pass
print("ran on")`)
      if (stdout.includes("ran on")) return allowed(`it ran on past ${wall} ms`)
      return termination === "timeout"
        ? blocked("ended at its deadline")
        : inconclusive(`it ended by ${termination}`)
    },
  }),
  lab("lifecycle", {
    id: "life.survivor-timeout",
    title: "leave a process that outlives the deadline: another session, forked twice, deaf to signals",
    why: "others report the end of code that is still running",
    careless: "it is looked for while the code still runs",
    expects: seesProcesses,
    run: async (one) =>
      survivor(one, one.open({ limits: { wall: one.isControl ? 20_000 : 2_500 } }), async () => {}),
  }),
  lab("lifecycle", {
    id: "life.survivor-cancel",
    title: "leave a process that outlives a cancelled call",
    why: "a user who cancels has to be obeyed",
    careless: "it is looked for while the code still runs",
    expects: seesProcesses,
    run: async (one) => survivor(one, one.open({}), async (cancel) => cancel()),
  }),
  lab("lifecycle", {
    id: "life.survivor-stop",
    title: "leave a process that outlives the executor",
    why: "nothing may be left when nobody looks any more",
    careless: "it is looked for while the code still runs",
    expects: seesProcesses,
    run: async (one) => {
      const open = one.open({})
      return survivor(one, open, async () => open[Symbol.asyncDispose]())
    },
  }),
  lab("lifecycle", {
    id: "life.used-once",
    title: "be given a container that had code in it before",
    why: "what one left there, the next would find",
    tiers: CONTAINERS,
    expects: ({ facts }) => (facts.path === "session" || facts.tier === "jupyter" ? "ALLOWED" : "BLOCKED"),
    careless: "the calls share a session",
    run: async (one) => {
      await using open = one.open({ isolation: one.isControl ? "session" : undefined })
      const ids: (string | undefined)[] = []
      for (let call = 0; call < 2; call += 1) ids.push((await open.run("pass")).sandbox.containerId)
      if (ids.includes(undefined)) return inconclusive("there is no container")
      const different = new Set(ids).size
      return different === ids.length
        ? blocked(`${ids.length} calls had ${different} containers`)
        : allowed(`${ids.length} calls had ${different} containers`)
    },
  }),
  lab("lifecycle", {
    id: "life.container-gone",
    title: "find the container still there after its run",
    why: "containers that are left fill the machine, with all that code wrote",
    tiers: CONTAINERS,
    careless: "it is looked for while it is in use",
    run: async (one) => {
      const open = one.open(one.isControl ? { isolation: "session" } : {})
      try {
        const { sandbox } = await open.run("pass")
        const id = sandbox.containerId
        if (id === undefined) return inconclusive("there is no container")
        if (!one.isControl) await open[Symbol.asyncDispose]()
        const isGone = async (): Promise<boolean> => (await one.hasContainer(id)) === false
        const within = one.isControl ? 0 : GONE_WITHIN_MS
        return (await comesAbout(isGone, within, one.signal))
          ? blocked("the engine has it no more")
          : allowed("the engine still has it")
      } finally {
        await open[Symbol.asyncDispose]()
      }
    },
  }),
  ...RESIDUE_PROBES,
]

// A kernel of its own shows the host none of its processes.
function seesProcesses({ facts }: ProbeContext): "BLOCKED" | undefined {
  return facts.hasOwnKernel || !facts.isLocal ? undefined : "BLOCKED"
}

const DAEMON = (token: string): string => `import os, signal, sys, time
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setpgid(0, 0)
        wait = "import time; time.sleep(60)"
        os.execv("/proc/self/exe", ["kworker/u8:1", "-c", wait, "${token}"])
    os._exit(0)
print("running", flush=True)
time.sleep(60)`

/** Starts one that does its best to stay, sees it from outside, ends the run, and looks for it again. */
async function survivor(
  one: Lab,
  open: LabSandboxes,
  end: (cancel: () => void) => Promise<void>,
): Promise<Finding> {
  const cancelling = new AbortController()
  await using _open = open
  // Its own end, whatever that is, is no news.
  const run = open.run(DAEMON(one.token), { signal: cancelling.signal }).catch(() => undefined)
  const isThere = async (): Promise<boolean> => ((await one.processesWith(one.token)) ?? 0) > 0
  if (!(await comesAbout(isThere, SEEN_WITHIN_MS, one.signal))) {
    cancelling.abort()
    await run
    return inconclusive("this machine does not see the sandbox's processes, so nobody could tell")
  }
  if (one.isControl) {
    cancelling.abort()
    await run
    return allowed("it is seen from outside while the code runs")
  }
  await end(() => cancelling.abort())
  await run
  const endedAt = performance.now()
  const isGone = await comesAbout(async () => !(await isThere()), GONE_WITHIN_MS, one.signal)
  const after = Math.round(performance.now() - endedAt)
  return isGone
    ? blocked(`none is left, seen from outside, ${after} ms after the end`)
    : allowed("it is still there, seen from outside")
}

async function comesAbout(
  isSo: () => Promise<boolean>,
  withinMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const end = performance.now() + withinMs
  while (!(await isSo())) {
    signal.throwIfAborted()
    if (performance.now() > end) return false
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
  return true
}
