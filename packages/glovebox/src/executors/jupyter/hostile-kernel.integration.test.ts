import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { HAS_NO_DOCKER, bash, cell, jupyter } from "./jupyter-subject.test-kit.ts"

// Speaks to the agent as the kernel does, about the request that runs.
const FORGE = `kernel = get_ipython().kernel
parent, ident = kernel.get_parent(), kernel._parent_ident["shell"]
def forge():
    kernel.session.send(kernel.shell_stream.socket, "execute_reply", {"status": "ok"}, parent, ident=ident, metadata={"exit": 0})
    kernel.session.send(kernel.iopub_socket, "status", {"execution_state": "idle"}, parent)
`

describe.skipIf(HAS_NO_DOCKER)("code that turns on its kernel", () => {
  it("can end its own call early, and not a later one by what it knew before", async () => {
    await using executor = jupyter({ timeout: "3s" })
    const lying = await cell(executor, `${FORGE}import time\nforge()\ntime.sleep(1000)\nprint("never")`)
    expect(lying).toMatchObject({ exitCode: 0, termination: "exit", stdout: "" })
    // The kernel is still at it: its time is up first, and then it does what it was asked.
    const next = await cell(executor, "print('late')")
    expect(next).toMatchObject({ termination: "timeout", exitCode: 124, stateLost: false })
    const last = await cell(
      executor,
      "import time\nforge()\ntime.sleep(0.2)\nprint('whole')\nraise SystemExit(7)",
    )
    expect(last).toMatchObject({ stdout: "whole\n", exitCode: 7 })
  })

  it("cannot speak for what runs beside the kernel: its end is seen by the first process", async () => {
    await using executor = jupyter()
    await cell(
      executor,
      `${FORGE}import threading, time
def later():
    while True: time.sleep(0.001); forge()
threading.Thread(target=later, daemon=True).start()`,
    )
    const result = await executor.executeCodeBlocks([bash("sleep 0.3; echo done; exit 9")])
    expect(result).toMatchObject({ stdout: "done\n", exitCode: 9, stateLost: false })
  })

  it("stands still between calls, threads and all", async () => {
    await using executor = jupyter()
    await cell(
      executor,
      `import threading, time
beats = []
def beat():
    while True: beats.append(time.monotonic()); time.sleep(0.005)
threading.Thread(target=beat, daemon=True).start()`,
    )
    await sleep(1500)
    const { stdout } = await cell(
      executor,
      "time.sleep(0.1)\nprint(max(b - a for a, b in zip(beats, beats[1:])) > 1)",
    )
    expect(stdout).toBe("True\n")
  })

  it("leaves no process behind, and hears how those ended that it started", async () => {
    await using executor = jupyter()
    await cell(
      executor,
      "import os, subprocess\nchild = subprocess.Popen(['sleep', '1000'])\nif os.fork() == 0:\n    while True: pass",
    )
    const { stdout } = await cell(
      executor,
      "print(child.poll(), [pid for pid in os.listdir('/proc') if pid.isdigit() and pid not in ('1', str(os.getpid()))])",
    )
    expect(stdout).toBe("-9 []\n")
  })

  it.each([
    ["closes its sockets", "import os\nos.closerange(3, 4096)"],
    ["closes the one it is asked on", "get_ipython().kernel.shell_stream.close()"],
    ["answers nothing", "get_ipython().kernel.session.send = lambda *args, **options: None"],
  ])("a kernel that %s is ended at the deadline, and replaced", async (_how, code) => {
    await using executor = jupyter({ timeout: "1s" })
    await cell(executor, `lost = 1\n${code}`)
    const results = [await cell(executor, "print('lost' in globals())")]
    while (results.at(-1)?.stdout !== "False\n" && results.length < 3) {
      results.push(await cell(executor, "print('lost' in globals())"))
    }
    expect(results.at(-1)?.stdout).toBe("False\n")
  })

  it("a kernel that stops itself is woken at the deadline, and keeps its variables", async () => {
    await using executor = jupyter({ timeout: "1s" })
    const code = "kept = 1\nimport os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"
    expect(await cell(executor, code)).toMatchObject({ termination: "timeout", stateLost: false })
    expect((await cell(executor, "print(kept)")).stdout).toBe("1\n")
  })
})
