import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest"
import { untilGone } from "../../testing/attacks/host-processes.ts"
import { eventually, processesWith } from "../local/host-processes.test-kit.ts"
import { processChannel } from "../sandbox/process-channel.ts"
import { cgroupFoldersOf } from "./cgroup-folders.test-kit.ts"
import { startHostProgram } from "./host-program.test-kit.ts"
import { SandboxProcess } from "./sandbox-process.ts"
import { weakSandbox } from "./weak-sandbox.test-kit.ts"

const isRoot = process.getuid?.() === 0
const asNobody = isRoot ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []
const mark = (): string => `8${process.pid}${Date.now() % 1_000_000}`

let folder = ""

beforeAll(async () => {
  folder = await mkdtemp("/var/tmp/glovebox-ends-")
  await chmod(folder, 0o755)
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

afterEach(() => {
  vi.useRealTimers()
})

// As bwrap is before it has made its namespaces: with a child that is bound to nobody.
async function halfway(time: string): Promise<string> {
  const path = join(folder, `bwrap-${time}`)
  const script = `#!/bin/sh\n[ "$1" = --version ] && exec echo bubblewrap 0.8.0\nsleep ${time} &\nwait\n`
  await writeFile(path, script, { mode: 0o755 })
  return path
}

describe("a host that is killed while a sandbox is being made", () => {
  it.each([
    ["without a cgroup", asNobody, "{ cgroup: false, cpus: 1024 }"],
    ["with what cgroups there are", [] as readonly string[], "{}"],
  ])("leaves no process and no cgroup, %s", async (_, under, options) => {
    const time = mark()
    const bwrapPath = JSON.stringify(await halfway(time))
    const program = await startHostProgram({
      under,
      code: `await new Executor({ ...${options}, bwrapPath: ${bwrapPath} }).start()`,
    })
    try {
      await eventually("it is halfway", () => processesWith(`sleep ${time}`).length > 0)
      program.child.kill("SIGKILL")
      await program.output
      await untilGone(`sleep\0${time}`, 5)
      const pid = program.child.pid ?? 0
      await expect.poll(async () => cgroupFoldersOf(pid), { timeout: 5_000 }).toEqual([])
    } finally {
      for (const left of processesWith(`sleep ${time}`)) process.kill(left, "SIGKILL")
    }
  })
})

describe("the end of a sandbox", () => {
  const processes = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === "ProcessWrap").length

  it("keeps this process until it has come", async () => {
    const identity = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
    const running = SandboxProcess.start({ command: ["sleep", "1000"], data: [], identity })
    const channel = processChannel(running.child)
    channel.ref(false)
    const before = processes()
    channel.close()
    const ended = running.end()
    // What an idle sandbox is given afterwards.
    channel.ref(false)
    expect(processes()).toBe(before + 1)
    await ended
  })

  it.runIf(isRoot)("is that of all in its cgroup at once, also of what does not answer", async () => {
    const sandbox = await weakSandbox()
    const stat = await readFile(`/proc/${sandbox.init}/stat`, "latin1")
    const bwrap = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
    // It would not see the end of the sandbox, and nobody comes later to end it too.
    process.kill(bwrap, "SIGSTOP")
    vi.useFakeTimers({ toFake: ["setTimeout"] })
    await sandbox.destroy()
    expect(await cgroupFoldersOf(process.pid)).toEqual([])
  })
})
