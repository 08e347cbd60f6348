import { lab } from "./define-probe.ts"
import { type Finding, allowed, blocked, failed, inconclusive } from "./finding.ts"
import type { GuestLanguage } from "./guest-probe.ts"
import type { Lab, LabRun } from "./lab.ts"
import type { Probe } from "./probe.ts"

const MiB = 1024 ** 2
const WALL_MS = 1_000
const PATIENCE_MS = 20_000
const GONE_WITHIN_MS = 5_000
const LOOK_EVERY_MS = 25
const LANGUAGES: readonly GuestLanguage[] = ["python", "javascript"]

type Programs = Readonly<Record<GuestLanguage, string>>

// Each with an end of its own, should nothing else end it.
const LOOPS: Programs = {
  python: `import time
end = time.monotonic() + 3
while time.monotonic() < end:
    try:
        while time.monotonic() < end: pass
    except BaseException: pass
print("ran on")`,
  javascript: `const end = Date.now() + 3000
while (Date.now() < end) { try { while (Date.now() < end); } catch {} finally { while (Date.now() < end); } }
console.log("ran on")`,
}
// Each letter more doubles the time: for ever, or some milliseconds.
const expressions = (letters: number): Programs => ({
  python: `import re
re.match("(a+)+$", "a" * ${letters} + "!")
print("ran on")`,
  javascript: `/^(a+)+$/.test("a".repeat(${letters}) + "!")
console.log("ran on")`,
})
const TAKEN = 96 * MiB
const MEMORY: Programs = {
  python: `hoard = []
for _ in range(${TAKEN / MiB}): hoard.append(bytearray(1 << 20))
print("took all")`,
  javascript: `const hoard = []
for (let at = 0; at < ${TAKEN / MiB}; at += 1) hoard.push(new Uint8Array(1 << 20).fill(1))
console.log("took all")`,
}
const STRINGS: Programs = {
  python: `text = "x" * (1 << 20)
while len(text) < ${TAKEN}: text += text
print("took all")`,
  javascript: `let text = "x".repeat(1 << 20)
while (text.length < ${TAKEN}) text = (text + text).split("").join("") 
console.log("took all")`,
}
const RECURSION: Programs = {
  python: `import sys
def deeper(): return deeper() + 1
for limit in (1000, 20_000):
    sys.setrecursionlimit(limit)
    try: deeper()
    except RecursionError: pass
value = []
for _ in range(100_000): value = [value]
repr(value)`,
  javascript: `const deeper = () => deeper() + 1
try { deeper() } catch {}
let value = []
for (let at = 0; at < 200_000; at += 1) value = [value]
JSON.stringify(value)`,
}

/** Bombs within an interpreter. */
export const GUEST_LIMIT_PROBES: readonly Probe[] = [
  lab("wasm", {
    id: "wasm.memory",
    title: "grow the interpreter's memory beyond its limit",
    why: "its pages are memory of this machine",
    tiers: ["wasm"],
    careless: "the limit is more than it takes",
    quick: true,
    run: async (one) => takeMemory(one, MEMORY),
  }),
  lab("wasm", {
    id: "wasm.strings",
    title: "make strings larger than the limit",
    why: "a host that copies them takes as much again",
    tiers: ["wasm"],
    careless: "the limit is more than it takes",
    run: async (one) => takeMemory(one, STRINGS),
  }),
  lab("wasm", {
    id: "wasm.loop",
    title: "compute past the deadline",
    why: "an interpreter cannot be asked to stop, so its thread and its process have to be ended",
    tiers: ["wasm"],
    careless: "the deadline is later than the code takes",
    quick: true,
    run: async (one) => outlast(one, LOOPS),
  }),
  lab("wasm", {
    id: "wasm.regex",
    title: "have a regular expression look past the deadline for a match that there is not",
    why: "it is one call, in which nothing of the guest's own is asked whether to go on",
    tiers: ["wasm"],
    careless: "the expression is soon done",
    run: async (one) => outlast(one, expressions(one.isControl ? 10 : 60)),
  }),
  lab("wasm", {
    id: "wasm.stack",
    title: "call itself without end, so that the process around the interpreter falls",
    why: "an overflow that is no error of the guest's is one of the host's",
    tiers: ["wasm"],
    careless: "a process that has fallen is looked at",
    run: overflow,
  }),
]

async function takeMemory(one: Lab, programs: Programs): Promise<Finding> {
  const ends: string[] = []
  const before = one.memory()
  for (const language of LANGUAGES) {
    await using open = one.open({ limits: { memory: one.isControl ? 1024 * MiB : 64 * MiB } })
    const { stdout, termination, exitCode } = await open.run(programs[language], { language })
    if (stdout.includes("took all")) return allowed(`${language} took ${TAKEN / MiB} MiB`)
    if (exitCode === 0) return inconclusive(`${language} ended by itself`)
    ends.push(`${language} ended by ${termination} (${exitCode})`)
  }
  const growth = Math.round((one.memory() - before) / MiB)
  return growth > TAKEN / MiB
    ? allowed(`this process grew by ${growth} MiB`)
    : blocked(`${ends.join("; ")}; this process grew by ${Math.max(0, growth)} MiB`)
}

async function outlast(one: Lab, programs: Programs): Promise<Finding> {
  const ends: string[] = []
  for (const language of LANGUAGES) {
    await using open = one.open({ limits: { wall: one.isControl ? 60_000 : WALL_MS } })
    const patience = AbortSignal.timeout(one.isControl ? 60_000 : PATIENCE_MS)
    const run = await open.run(programs[language], { language, signal: patience }).catch((error: unknown) => {
      if (!patience.aborted) throw error
    })
    if (!run) return allowed(`${language} went on until it was cancelled`)
    const { stdout, termination, sandbox } = run
    if (stdout.includes("ran on")) return allowed(`${language} ran on to its own end`)
    if (termination !== "timeout") return inconclusive(`${language} ended by ${termination}`)
    // A session goes on with another interpreter, in the same process.
    const isKept = one.facts.path === "session"
    if (!isKept && !(await isGone(one, sandbox))) return allowed(`the process of ${language} is still there`)
    ends.push(`${language} was ended at its deadline${isKept ? "" : ", and its process is gone"}`)
  }
  return blocked(ends.join("; "))
}

async function isGone(one: Lab, { effective }: LabRun["sandbox"]): Promise<boolean> {
  const id = effective?.["processId"]
  if (typeof id !== "number") return false
  const end = performance.now() + GONE_WITHIN_MS
  while (one.isProcess(id)) {
    one.signal.throwIfAborted()
    if (performance.now() > end) return false
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
  return true
}

async function overflow(one: Lab): Promise<Finding> {
  if (one.isControl) {
    const run = await one.runOutside(
      "javascript",
      `process.kill(process.pid, "SIGSEGV"); setTimeout(() => {}, 5000)`,
    )
    return run?.termination === "signal" ? allowed("the process fell") : failed("it did not fall")
  }
  const ends: string[] = []
  await using open = one.open({ isolation: "session", limits: { wall: PATIENCE_MS } })
  for (const language of LANGUAGES) {
    const fell = await open.run(RECURSION[language], { language }).then(
      (run) => `${language} ended with ${run.exitCode} (${run.termination})`,
      () => undefined,
    )
    if (fell === undefined) return allowed(`the sandbox of ${language} fell`)
    const hello = language === "python" ? `print("still here")` : `console.log("still here")`
    const after = await open.run(hello, { language })
    if (!after.stdout.includes("still here")) return allowed(`after ${language} nothing runs`)
    ends.push(fell)
  }
  return blocked(`${ends.join("; ")}; the next programs ran in the same process`)
}
