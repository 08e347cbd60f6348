import assert from "node:assert/strict"
import { begin, rejectionOf, stillWorks, succeed, within } from "../expectations.ts"
import { python } from "../programs.ts"
import type { Suite } from "../suite.ts"
import { untilGone } from "./host-processes.ts"

// A name that only this run has, to be looked for from the host.
let marks = 0
function newMark(): string {
  marks += 1
  return `9${process.pid}${Date.now() % 1_000_000}${marks}`
}

function survivors(mark: string): string {
  return `import os, signal, subprocess, sys
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
def daemon(*argv):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 256)
            os.execvp(argv[0], argv)
        os._exit(0)
    os.wait()
daemon("sleep", "${mark}")
daemon("sh", "-c", "trap '' TERM HUP INT; while :; do sleep ${mark}; done")
subprocess.Popen(["sleep", "${mark}"], start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
subprocess.Popen(["sleep", "${mark}"])
`
}

// The host's view: what it needs at most to see that all is gone, with the slack of a busy machine.
const GONE_SECONDS = 5

/** Processes that are to outlive their run. */
export function defineProcesses({ it, itIf, shared, subject, programs }: Suite): void {
  const { features } = subject
  const seen = async (mark: string): Promise<void> => {
    if (!features.hostSeesProcesses) return
    const elapsed = await untilGone(mark, GONE_SECONDS)
    if (elapsed > 2000) throw new Error(`gone only after ${Math.round(elapsed)} ms`)
  }
  const alone = python(`import os
own = {"1", str(os.getpid()), str(os.getppid())}
print([open(f"/proc/{pid}/cmdline").read().split(chr(0))[0] for pid in os.listdir("/proc") if pid.isdigit() and pid not in own and open(f"/proc/{pid}/stat").read().rsplit(")")[1].split()[1] not in ("0", "1")])`)

  it("daemons, orphans and the deaf are gone when their block has ended, also for the next block", async () => {
    const mark = newMark()
    const { stdout } = await within(
      succeed(
        shared(),
        python(`${survivors(mark)}print("main ended")`),
        python(`import os
print([pid for pid in os.listdir("/proc") if pid.isdigit() and b"${mark}" in open(f"/proc/{pid}/cmdline", "rb").read()])`),
      ),
      30,
      "the call",
    )
    assert.equal(stdout, "main ended\n[]\n")
    await seen(mark)
    assert.equal((await succeed(shared(), alone)).stdout, "[]\n")
  })

  it("nothing survives the deadline", async () => {
    const mark = newMark()
    await using executor = subject.create({ timeout: "1s" })
    const { termination } = await executor.executeCodeBlocks([
      python(`${survivors(mark)}print("up", flush=True)\nsignal.pause()\nwhile True: signal.pause()`),
    ])
    assert.equal(termination, "timeout")
    await seen(mark)
    await stillWorks(executor, programs.print)
  })

  it("nothing survives an abort, or stop", async () => {
    for (const end of ["abort", "stop"] as const) {
      const mark = newMark()
      await using executor = subject.create()
      const controller = new AbortController()
      const { result, spoke } = begin(
        executor,
        [python(`${survivors(mark)}print("up", flush=True)\nwhile True: signal.pause()`)],
        { signal: controller.signal },
      )
      const rejection = rejectionOf(result)
      await spoke
      if (end === "abort") controller.abort()
      else await within(executor.stop(), 10, "stop")
      await rejection
      await seen(mark)
    }
  })

  itIf(features.limits.includes("pids"), "a fork bomb ends, and says why", async () => {
    await using executor = subject.create({ timeout: "10s", pids: 32 })
    const bomb = python(`import os, sys
children = 0
try:
    while True:
        if os.fork() == 0:
            while True:
                try: os.fork()
                except OSError: pass
        children += 1
except OSError:
    sys.exit(9)`)
    const { termination, exitCode, blocks } = await within(executor.executeCodeBlocks([bomb]), 40, "the bomb")
    assert.deepEqual([exitCode, termination, blocks[0]?.limitsHit], [9, "process-limit", ["pids"]])
    const threads = python(`import threading, time
def wait(): time.sleep(60)
try:
    while True: threading.Thread(target=wait, daemon=True).start()
except RuntimeError:
    print("no more threads")`)
    const { stdout } = await within(executor.executeCodeBlocks([threads]), 40, "the threads")
    assert.equal(stdout, "no more threads\n")
    await stillWorks(executor, programs.print)
  })

  itIf(
    features.limits.includes("pids") && subject.languages.includes("sh"),
    "the shell's fork bomb ends",
    async () => {
      await using executor = subject.create({ timeout: "2s", pids: 32 })
      const { exitCode } = await within(
        executor.executeCodeBlocks([{ language: "sh", code: "bomb() { bomb | bomb & }\nbomb\nsleep 100" }]),
        40,
        "the bomb",
      )
      assert.notEqual(exitCode, 0)
      await stillWorks(executor, programs.print)
    },
  )

  it("a program that kills and stops everything it can reach harms only itself", async () => {
    const attacks = [
      `import os, signal
for number in (9, 19, 15, 2, 1, 10, 12, 17, 18):
    for pid in (1, os.getppid()):
        try: os.kill(pid, number)
        except OSError as error: print(number, pid, error.errno)
print("tried")`,
      `import os\nos.kill(-1, 9)\nprint("alone")`,
      `import os, signal\nos.kill(0, 19)`,
      `import os\nos.closerange(0, 4096)\nos._exit(0)`,
      `import os\nos.dup2(os.open("/dev/null", os.O_RDWR), 1)\nos.close(2)\nos.system("sleep 0.1")`,
    ]
    await using executor = subject.create({ timeout: "2s" })
    for (const attack of attacks) {
      const { termination } = await within(executor.executeCodeBlocks([python(attack)]), 30, attack)
      assert.ok(["exit", "signal", "timeout"].includes(termination), termination)
    }
    await stillWorks(executor, programs.print)
  })
}
