import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { release, tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { untilGone } from "../../testing/attacks/host-processes.ts"
import { executorAttacks } from "../../testing/executor-attacks.ts"
import { executorConformance } from "../../testing/executor-conformance.ts"
import type { ExecutorSubject } from "../../testing/executor-subject.ts"
import { begin, rejectionOf, stillWorks, succeed, within } from "../../testing/expectations.ts"
import { programsIn, python, sh } from "../../testing/programs.ts"
import type { TestRunner } from "../../testing/test-runner.ts"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import type { CodeBlock } from "../code-block.ts"
import type { DockerCommandLineCodeExecutor } from "./docker-command-line-code-executor.ts"
import { madeBy } from "./docker-command.test-kit.ts"
import type { DockerCommandLineCodeExecutorOptions } from "./docker-options.ts"
import { HAS_NO_DOCKER, docker, dockerSubject } from "./docker-subject.test-kit.ts"
import { program } from "./egress-programs.test-kit.ts"
import { HOST, reaching, sampleBytes, sha256, webServer } from "./egress-servers.test-kit.ts"

const run = promisify(execFile)
const SCRIPT = fileURLToPath(new URL("../../../../../scripts/engine", import.meta.url))
const { print, wait } = programsIn(["python"])
const isRoot = process.getuid?.() === 0
const hasRunsc = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/bin"].some((folder) =>
  existsSync(join(folder, "runsc")),
)
// A sandbox takes a second or two to start under gVisor: all of the suites take minutes.
const runsAll = process.env["GLOVEBOX_TEST_GVISOR"] === "all"

// What of the suites is otherwise with a kernel of its own; below is what holds in its place.
const OTHERWISE = new Set([
  // Process 1 can be killed from within, and its files can be opened: the code can end or belie its own run.
  "a program that kills and stops everything it can reach harms only itself",
  "no process but the program's own lets it read or write its files",
  // No count of refused processes can be read, and the sandbox's end may come first.
  "a fork bomb ends, and says why",
  "the shell's fork bomb ends",
  // Its devices, namespaces and roots are its own, and no filter of the host's is needed.
  "special files are no artifacts and block nobody",
  "there are no capabilities, no new privileges, no root, and a filter on calls to the kernel",
  "namespaces, mounts, keys, tracing tools and devices are out of reach",
])

// One of each kind.
const BRIEFLY = new Set([
  "a program that ends well gives its output, one block, and a report of the sandbox",
  "an exit code is the program's own, also 124, which is not a timeout",
  "a signal is named",
  "stdout and stderr are apart, and together in the order they were written",
  "blocks run in order, each with a result of its own, and their outputs are joined as they are",
  "text comes back byte for byte",
  "each of its languages runs, and sees the files of the others",
  "files of every kind are there in the next call, and are artifacts once",
  "a file can become a folder between calls, and a folder a file",
  "events come in order: started, the blocks with their output, artifacts, finished",
  "code that is deaf to signals ends at the deadline: 124, its output so far, no later block",
  "between two blocks: the second does not run",
  "a link in the place of a folder above the next file is not followed",
  "links are no artifacts, and nothing that they lead to comes out",
  "daemons, orphans and the deaf are gone when their block has ended, also for the next block",
  "a memory bomb ends by the limit on memory",
  "a disk bomb meets the bound of the workspace",
  "every other place that can be written is bounded too",
  "bytes that look like the host's own protocol are output like any other",
  "no process can be traced, and the program has no file that is not its own",
  "hostile names stay behind or come back as they are, and never lead out",
  "a tree of folders deeper than any path may be long does not spoil the run",
  "no address can be reached, of the host or beyond, and no name is resolved",
  "the root cannot be written, by any path",
])

const vitest: TestRunner = { describe, it, after: afterAll }
// The parts of a suite are not groups of their own here, for vitest takes an empty group for a mistake.
let isWithinSuite = false
const runner: TestRunner = {
  describe: (name, body) => {
    if (isWithinSuite) return body()
    return vitest.describe(name, () => {
      isWithinSuite = true
      body()
      isWithinSuite = false
    })
  },
  after: vitest.after,
  it: (name, body) => {
    if (!OTHERWISE.has(name) && (runsAll || BRIEFLY.has(name))) vitest.it(name, body)
  },
}

describe.skipIf(HAS_NO_DOCKER || !isRoot || !hasRunsc)(
  "the Docker executor with gVisor (needs root and runsc)",
  () => {
    let folder = ""
    let env: NodeJS.ProcessEnv = {}
    const gvisor = (options: DockerCommandLineCodeExecutorOptions = {}): DockerCommandLineCodeExecutor =>
      docker({ dockerHost: `unix://${join(folder, "state/docker.sock")}`, runtime: "auto", ...options })

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "gb-gvisor-"))
      const { DOCKER_HOST: _host, DOCKER_CONTEXT: _context, ...rest } = process.env
      env = { ...rest, GLOVEBOX_ENGINE_STATE: join(folder, "state") }
      await run(SCRIPT, ["--json"], { env })
    })
    afterAll(async () => {
      await run(SCRIPT, ["stop"], { env }).catch(() => "")
      await rm(folder, { recursive: true, force: true })
    })

    const gone = async (ids: readonly string[]): Promise<void> => {
      for (const id of ids) await untilGone(id, 5)
    }

    it("is chosen where the engine has it, is told, and is another kernel", async () => {
      await using executor = gvisor({ pool: false, policy: { isolation: "userspace-kernel" } })
      const chosen: unknown[] = []
      executor.on("runtime-chosen", ({ runtime, because }) => chosen.push([runtime, because]))
      const { stdout, sandbox } = await succeed(executor, python("import os\nprint(os.uname().release)"))
      expect(chosen).toEqual([["runsc", "the engine has gVisor"]])
      expect([sandbox.runtime, sandbox.effective?.["runtime"]]).toEqual(["runsc", "runsc"])
      expect(sandbox.effective?.["indirect"]).toEqual([expect.stringContaining("limits.files")])
      expect(stdout.trim()).not.toBe(release())
    })

    it("does for what a policy requires, unless that is more, or the runtime named is less", async () => {
      for (const [options, words] of [
        [{ policy: { isolation: "vm" } }, /requires the isolation "vm".*runsc gives "userspace-kernel"/],
        [{ runtime: "runc", policy: { isolation: "userspace-kernel" } }, /runc gives "container"/],
      ] as const) {
        await using executor = gvisor(options)
        await expectFailure(executor.executeCodeBlocks([print("x")]), "SANDBOX_UNENFORCEABLE", words)
      }
    })

    it("carries what an allow-list allows, and nothing else", async () => {
      await using web = await webServer()
      await using executor = gvisor({ pool: false, ...reaching(web.port) })
      const { stdout, egress, sandbox } = await succeed(
        executor,
        program(`show(fetch("http://${HOST}:${web.port}/hello")); show(fetch("http://evil.test/")[:3])
data = fetch("http://${HOST}:${web.port}/bytes/1000000")
show(fetch("http://${HOST}:${web.port}/upload", data))
try: socket.create_connection(("10.0.0.1", 80), 20)
except OSError as error: print(error.strerror)
print([name for _, name in socket.if_nameindex()])`),
      )
      expect(stdout).toBe(`hello from ${HOST}:${web.port}
403
1000000 ${sha256(sampleBytes(1_000_000))}
No route to host
['lo']
`)
      expect(egress?.map(({ verdict }) => verdict)).toEqual(["allowed", "denied", "allowed", "allowed"])
      expect([sandbox.runtime, sandbox.effective?.["network"]]).toEqual(["runsc", "none"])
    })

    it("has a pool that gives each call a sandbox of its own, and nothing is left of them", async () => {
      const executor = gvisor({ pool: { size: 2 } })
      const made = madeBy(executor)
      await executor.start()
      const results = await Promise.all(["a", "b"].map(async (text) => succeed(executor, print(text))))
      expect(results.map(({ stdout }) => stdout)).toEqual(["a", "b"])
      expect(results[0]?.sandbox.pooled).toBe(true)
      expect(new Set(results.map(({ sandbox }) => sandbox.containerId)).size).toBe(2)
      await executor.stop()
      await gone(made)
    })

    it("keeps the kill contract: nothing of the sandbox is left on the host after a deadline, an abort, a stop", async () => {
      const executor = gvisor({ pool: false, timeout: "1s", concurrency: 1 })
      const made = madeBy(executor)
      const daemons = sh("(setsid sleep 1000 &) ; trap '' TERM; echo up; while :; do sleep 1; done")
      const late = await within(executor.executeCodeBlocks([daemons]), 20, "the deadline")
      expect([late.termination, late.exitCode, late.stdout]).toEqual(["timeout", 124, "up\n"])
      await gone(made)
      const patient = gvisor({ pool: false })
      const others = madeBy(patient)
      const controller = new AbortController()
      const first = begin(patient, [wait("on")], { signal: controller.signal })
      const aborted = rejectionOf(first.result)
      await first.spoke
      const reason = new Error("enough")
      controller.abort(reason)
      expect(await aborted).toBe(reason)
      await gone(others)
      const second = begin(patient, [wait("on")])
      const stopped = expectFailure(second.result, "EXECUTOR_STOPPED")
      await second.spoke
      await within(patient.stop(), 10, "stop")
      await stopped
      await gone(others)
      await executor.stop()
    })

    it("bounds fork bombs, and outlives code that ends its sandbox from within", async () => {
      await using executor = gvisor({ pool: { size: 1 }, timeout: "3s", pids: 32 })
      const bombs: CodeBlock[] = [
        python(`import os
made = 0
try:
    while made < 200:
        if os.fork() == 0: os.read(os.pipe()[0], 1)
        made += 1
except OSError: pass
print("made", made, flush=True)
os._exit(9 if made < 32 else 0)`),
        sh("bomb() { bomb | bomb & }\nbomb\nsleep 100"),
        python("import os\nos.kill(1, 9)\nwhile True: os.kill(-1, 9)"),
      ]
      const outcomes = []
      for (const bomb of bombs) {
        const call = executor.executeCodeBlocks([bomb]).then(
          ({ termination, exitCode }) => (exitCode === 0 ? "success" : termination),
          (error: { code?: string }) => error.code ?? "an error of no kind",
        )
        outcomes.push(await within(call, 30, "the bomb"))
        await stillWorks(executor, print)
      }
      const possible = ["exit", "signal", "timeout", "process-limit", "oom", "SANDBOX_LOST"]
      expect(outcomes.filter((outcome) => !possible.includes(outcome))).toEqual([])
    })

    it("has namespaces that are its own kernel's: root in one of them has no more of the host", async () => {
      await using executor = gvisor({ pool: false })
      const code = `import ctypes, os, socket
libc = ctypes.CDLL(None)
print("unshared" if libc.unshare(0x10000000) == 0 else "refused")
def attempt(what, action):
    try: action(); print("OPEN", what)
    except OSError: pass
attempt("write the root", lambda: open("/etc/new", "w"))
libc.mount(b"none", b"/", None, 32, None)
attempt("write the root after a remount", lambda: open("/etc/new", "w"))
attempt("disk", lambda: open("/dev/sda", "rb").read(1) or open("/dev/vda", "rb").read(1))
attempt("memory", lambda: open("/dev/mem", "rb").read(1))
attempt("network", lambda: socket.create_connection(("1.1.1.1", 53), 1))
try: os.mknod("device", 0o060666, os.makedev(254, 0))
except OSError: pass
attempt("device", lambda: open("device", "rb").read(1))
print("tried")`
      const { stdout, artifacts } = await executor.executeCodeBlocks([python(code)])
      expect(stdout).toMatch(/^(?:unshared|refused)\ntried\n$/)
      expect(artifacts).toEqual([])
    })

    // Briefly, those tests that need no sandbox of their own share a session.
    const sharing = runsAll ? "run" : "session"
    const base = dockerSubject("gVisor", { isolation: sharing })
    const subject: ExecutorSubject = {
      ...base,
      // The engine's place is known only when the tests run.
      create: (asked) => {
        const dockerHost = `unix://${join(folder, "state/docker.sock")}`
        const isolation = asked === undefined ? sharing : "run"
        return dockerSubject("gVisor", { isolation, dockerHost, runtime: "auto" }).create(asked)
      },
      features: { ...base.features, limits: ["memory", "pids", "workspace"], hostSeesProcesses: false },
    }
    executorConformance(runner, subject)
    executorAttacks(runner, subject)
  },
)
