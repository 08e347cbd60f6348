import { closeSync, openSync } from "node:fs"
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { GloveboxError } from "../../core/index.ts"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { untilGone } from "../../testing/attacks/host-processes.ts"
import { pythonFunction } from "../functions/python-function.ts"
import { BubblewrapCodeExecutor } from "./bubblewrap-code-executor.ts"
import type { BubblewrapCodeExecutorOptions } from "./bubblewrap-options.ts"
import { cgroupFoldersOf } from "./cgroup-folders.test-kit.ts"
import { findProgram } from "./find-tools.ts"
import { hostProgram, startHostProgram } from "./host-program.test-kit.ts"
import { pythonTree } from "./python-tree.test-kit.ts"

const python = (code: string): { language: string; code: string } => ({ language: "python", code })
const isRoot = process.getuid?.() === 0
const asNobody = isRoot ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []

const REPORT = `await using executor = new Executor()
const { output, sandbox } = await executor.executeCodeBlocks([{ language: "python", code: "import os; print(os.getuid())" }])
console.log(JSON.stringify({ output, user: process.getuid(), effective: sandbox.effective }))`

interface Report {
  readonly output: string
  readonly user: number
  readonly effective: Readonly<Record<string, unknown>>
}

let folder = ""

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-bubblewrap-"))
  await chmod(folder, 0o755)
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

async function output(code: string, options: BubblewrapCodeExecutorOptions = {}): Promise<string> {
  await using executor = new BubblewrapCodeExecutor({ pool: false, ...options })
  return (await executor.executeCodeBlocks([python(code)])).output
}

describe("BubblewrapCodeExecutor", () => {
  it("says what wall was there, and by what each limit is kept", async () => {
    await using executor = new BubblewrapCodeExecutor({ memory: "256MiB" })
    const { sandbox } = await executor.executeCodeBlocks([python("print(6 * 7)")])
    expect(sandbox).toMatchObject({
      kind: "bubblewrap",
      policySha256: executor.policy.sha256,
      runtime: expect.stringMatching(/^bubblewrap \d/) as string,
      effective: { user: "65532:65532", network: "none", memory: 256 * 1024 ** 2 },
    })
  })

  it.runIf(isRoot)("keeps every limit by a cgroup where it can, and is not root", async () => {
    await using executor = new BubblewrapCodeExecutor({ pool: false })
    const { sandbox } = await executor.executeCodeBlocks([python("print(6 * 7)")])
    expect(sandbox.effective).toMatchObject({
      enforcement: { memory: "cgroup", pids: "cgroup", cpus: "cgroup", files: "tmpfs" },
      hostUser: "65532:65532",
      indirect: [],
    })
  })

  it("is another user on the machine even when the code is root inside", async () => {
    await using executor = new BubblewrapCodeExecutor({ user: "0:0", pool: false })
    const { output: said, sandbox } = await executor.executeCodeBlocks([
      python(`import os\nprint(os.getuid(), open("/proc/self/uid_map").read().split()[1])`),
    ])
    expect(said).toMatch(/^0 /)
    expect(sandbox.effective["hostUser"]).not.toMatch(/^0:|:0$/)
  })

  it("works for an ordinary user, with rlimits where no cgroup is delegated", async () => {
    const {
      output: inside,
      user,
      effective,
    } = JSON.parse(await hostProgram({ under: asNobody, code: REPORT })) as Report
    expect(inside).toBe("65532\n")
    expect(effective["hostUser"]).toMatch(new RegExp(`^${user}:`))
  })

  it.runIf(isRoot)("says which limits an ordinary user has by rlimits, and what that means", async () => {
    const said = await hostProgram({ under: asNobody, code: REPORT })
    const { effective } = JSON.parse(said) as Report
    expect(effective["enforcement"]).toEqual({
      memory: "rlimit",
      pids: "rlimit",
      cpus: "affinity",
      files: "tmpfs",
    })
    expect(effective["indirect"]).toEqual([
      expect.stringMatching(/^limits.memory/),
      expect.stringMatching(/^limits.cpus/),
    ])
  })

  it("has the functions, the init command, the variables and the folder it was given", async () => {
    const workDir = await mkdtemp(join(folder, "work-"))
    await writeFile(join(workDir, "given"), "of the host")
    await using executor = new BubblewrapCodeExecutor({
      workDir,
      env: { COLOUR: "green" },
      initCommand: "echo prepared > /tmp/prepared",
      functions: [pythonFunction({ source: "def double(value: int) -> int:\n    return 2 * value" })],
    })
    const { stdout } = await executor.executeCodeBlocks([
      python(`import os
from functions import double
print(double(21), os.environ["COLOUR"], open("/tmp/prepared").read().strip(), open("given").read())
open("made", "w").write("inside")`),
    ])
    expect(stdout).toBe("42 green prepared of the host\n")
    expect(await readFile(join(workDir, "made"), "utf8")).toBe("inside")
  })

  it("refuses functions with packages, and an init command that fails", async () => {
    const needy = pythonFunction({ source: "def one() -> int:\n    return 1", pythonPackages: ["numpy"] })
    await using first = new BubblewrapCodeExecutor({ functions: [needy] })
    await expectFailure(first.start(), "PACKAGES_FAILED", /numpy/)
    await using second = new BubblewrapCodeExecutor({ initCommand: "echo broken; exit 3" })
    await expectFailure(second.start(), "SANDBOX_SETUP_FAILED", /ended with 3.*broken/)
    expect(await cgroupFoldersOf(process.pid)).toEqual([])
  })

  it("mounts what the policy names, read-only unless it says otherwise", async () => {
    const data = await mkdtemp(join(folder, "data-"))
    await chmod(data, 0o777)
    await writeFile(join(data, "table"), "1,2", { mode: 0o644 })
    const code = `print(open("/data/table").read())
try: open("/data/new", "w").write("x"); print("written")
except OSError as error: print(error.strerror)`
    const mount = { source: data, target: "/data" }
    expect(await output(code, { policy: { mounts: [mount] } })).toBe("1,2\nRead-only file system\n")
    expect(await output(code, { policy: { mounts: [{ ...mount, mode: "rw" }] } })).toBe("1,2\nwritten\n")
    await using executor = new BubblewrapCodeExecutor({
      policy: { mounts: [{ source: "/etc", target: "/data" }] },
    })
    await expectFailure(executor.start(), "POLICY_MOUNT_REFUSED", /\/etc/)
  })

  it("refuses targets of mounts that are not in its read-only tree, and takes those that are", async () => {
    const data = await mkdtemp(join(folder, "data-"))
    await chmod(data, 0o755)
    const mounts = (target: string): BubblewrapCodeExecutorOptions => ({
      policy: { mounts: [{ source: data, target }] },
    })
    for (const target of ["/usr/nowhere", "/bin/nowhere"]) {
      await using executor = new BubblewrapCodeExecutor(mounts(target))
      await expectFailure(executor.start(), "POLICY_MOUNT_REFUSED", new RegExp(`${target} is not in .*tree`))
    }
    const list = `import os\nprint(os.listdir("/usr/share"))`
    expect(await output(list, mounts("/usr/share/"))).toBe("[]\n")
    expect(() => new BubblewrapCodeExecutor(mounts("/workspace/"))).toThrow(/must be rw for \/workspace/)
  })

  it("bounds the workspace, however its mount is written, and takes any size of memory", async () => {
    const data = await mkdtemp(join(folder, "data-"))
    await chmod(data, 0o777)
    const mounts = [{ source: data, target: "//workspace/", mode: "rw" as const }]
    await using executor = new BubblewrapCodeExecutor({ memory: 100_000_001, policy: { mounts } })
    const { stdout } = await executor.executeCodeBlocks([python(`open("made", "w").write("x")\nprint(1)`)])
    expect(stdout).toBe("1\n")
    expect(await readFile(join(data, "made"), "utf8")).toBe("x")
  })

  it.each(["/sys/fs/cgroup/nope", "/tmp", "/proc"])("does not take %s for a cgroup", async (cgroup) => {
    await using executor = new BubblewrapCodeExecutor({ cgroup, cpus: 1024 })
    await expectFailure(executor.start(), "OPTION_INVALID", new RegExp(`^cgroup: ${cgroup} `))
  })

  it("shows nothing of how this machine was started", async () => {
    expect((await readFile("/proc/cmdline", "utf8")).length).toBeGreaterThan(0)
    const code = `try: print(repr(open("/proc/cmdline").read()))\nexcept PermissionError: print("refused")`
    expect(await output(code)).toBe("refused\n")
  })

  it("uses another tree in the place of the machine's own", async () => {
    const root = await mkdtemp("/var/tmp/glovebox-tree-")
    try {
      await pythonTree(root)
      await writeFile(join(root, "usr/of-the-tree"), "yes")
      const code = `import os\nprint(sorted(os.listdir("/usr")), os.path.exists("/usr/bin/perl"))`
      expect(await output(code, { root })).toBe("['bin', 'lib', 'lib64', 'of-the-tree'] False\n")
      await using executor = new BubblewrapCodeExecutor({ root })
      await expectFailure(
        executor.executeCodeBlocks([{ language: "bash", code: "echo" }]),
        "LANGUAGE_UNAVAILABLE",
        /The tree .*glovebox-tree.* has no bash/,
      )
    } finally {
      await rm(root, { recursive: true, force: true })
    }
  })

  it.each([
    ["/", /this machine's own root/],
    ["/nowhere/at/all", /cannot be read/],
    ["/proc", /neither usr nor bin/],
  ])("does not take %s for a tree", async (root, message) => {
    await using executor = new BubblewrapCodeExecutor({ root })
    await expectFailure(executor.start(), "OPTION_INVALID", message)
  })

  it("filters calls by the profile of the policy", async () => {
    const code = `import os
try: print(os.uname().sysname)
except OSError as error: print(error.errno)
print([line.split()[1] for line in open("/proc/self/status") if line.startswith("Seccomp:")])`
    const profile = {
      defaultAction: "SCMP_ACT_ALLOW",
      syscalls: [{ names: ["uname"], action: "SCMP_ACT_ERRNO", errnoRet: 77 }],
    }
    expect(await output(code, { seccomp: { profile } })).toBe("77\n['2']\n")
    expect(await output(code)).toBe("Linux\n['2']\n")
    // Without a cgroup a filter remains that keeps the limits.
    const open = { seccomp: { dangerously: "unconfined" } } as const
    expect(await output(code, { ...open, cpus: 1, cgroup: false })).toBe("Linux\n['2']\n")
  })

  it("gives the sandbox no file that its host was given", async () => {
    const secret = join(folder, "of-the-host")
    await writeFile(secret, "secret")
    const file = openSync(secret, "r")
    try {
      const said = await hostProgram({
        inherits: [file, file],
        code: `import { readlinkSync } from "node:fs"
console.log(readlinkSync("/proc/self/fd/4"))
await using executor = new Executor({ pool: false })
const probe = "import os; print([entry for pid in ('1', 'self') for entry in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + entry) and os.path.basename(os.readlink('/proc/self/fd/' + entry)) == 'of-the-host'])"
console.log((await executor.executeCodeBlocks([{ language: "python", code: probe }])).output)`,
      })
      expect(said.trim()).toBe(`${secret}\n[]`)
    } finally {
      closeSync(file)
    }
  })
})

describe("limits without a cgroup", () => {
  const NOBODYS_MEMORY = `import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, *args): return getattr(libc, name)(*args) >= 0
print(attempt("memfd_create", b"x", 0), attempt("shmget", 0, 4096, 0o1600))`
  const options = { cgroup: false, memory: "128MiB", pids: 24, cpus: 1, pool: false } as const

  it("bound the memory of a process", async () => {
    const bomb = `hoard = []
try:
    while True: hoard.append(bytearray(4_000_000))
except MemoryError: print("no more after", len(hoard) * 4 <= 128)`
    expect(await output(bomb, options)).toBe("no more after True\n")
  })

  it("leave no memory that belongs to no process", async () => {
    expect(await output(NOBODYS_MEMORY, options)).toBe("False False\n")
  })

  it.runIf(isRoot)("leave it where a cgroup counts it", async () => {
    expect(await output(NOBODYS_MEMORY)).toBe("True True\n")
  })

  it("bound the processes of each sandbox by itself", async () => {
    const code = `import os, time
count = 0
try:
    while True:
        if os.fork() == 0: time.sleep(60)
        count += 1
except OSError: print(count)`
    await using executor = new BubblewrapCodeExecutor({ ...options, concurrency: 2 })
    const counts = await Promise.all(
      [1, 2].map(async () => Number((await executor.executeCodeBlocks([python(code)])).stdout)),
    )
    // The agent is one of them, and this program another.
    expect(counts).toEqual([22, 22])
  })

  it("keep to the processors, and code cannot leave them", async () => {
    const code = `import os
print(len(os.sched_getaffinity(0)))
try: os.sched_setaffinity(0, range(os.cpu_count())); print("left")
except OSError as error: print(error.strerror)`
    expect(await output(code, options)).toBe("1\nOperation not permitted\n")
  })
})

describe("what is left", () => {
  it.runIf(isRoot)("of the cgroups, after stop: nothing", async () => {
    await using executor = new BubblewrapCodeExecutor()
    await executor.executeCodeBlocks([python("print(1)")])
    expect((await cgroupFoldersOf(process.pid)).length).toBeGreaterThan(0)
    await executor.stop()
    expect(await cgroupFoldersOf(process.pid)).toEqual([])
  })

  it("of starts that are given up, whenever that is: nothing", async () => {
    const sandboxes = new Set<string>()
    for (let wait = 0; wait < 120; wait += 12) {
      await using executor = new BubblewrapCodeExecutor()
      const starting = executor.start().then(
        () => sandboxes.add("started"),
        (error: unknown) => GloveboxError.is(error, "EXECUTOR_STOPPED") && sandboxes.add("given up"),
      )
      await delay(wait)
      await executor.stop()
      await starting
      expect(await cgroupFoldersOf(process.pid)).toEqual([])
    }
    expect(sandboxes).toContain("given up")
  })

  it.each([
    ["root", [] as readonly string[]],
    ["an ordinary user", asNobody],
  ])("of a host that is killed, as %s: nothing, and what it could not remove is swept", async (_, under) => {
    const mark = `7${process.pid}${Date.now() % 1_000_000}`
    const program = await startHostProgram({
      under,
      code: `const executor = new Executor()
const sleeper = "import subprocess; subprocess.Popen(['sleep', '${mark}'], start_new_session=True); print('up', flush=True); subprocess.run(['sleep', '${mark}'])"
await executor.executeCodeBlocks([{ language: "python", code: sleeper }], { onOutput: ({ text }) => console.log(text) })`,
    })
    await program.says("up")
    const pid = program.child.pid ?? 0
    program.child.kill("SIGKILL")
    await program.output
    await untilGone(mark, 5)
    await using executor = new BubblewrapCodeExecutor({ pool: false })
    await executor.start()
    expect(await cgroupFoldersOf(pid)).toEqual([])
  })
})

describe("what is missing", () => {
  const start = `const executor = new Executor()
try { await executor.start(); console.log("started") } catch (error) { console.log(error.code + ": " + error.message) }
await executor.stop()`

  it("bwrap is not there", async () => {
    const bwrap = await findProgram("bwrap")
    const hide = `mount --bind /dev/null ${bwrap}; exec "$@"`
    const said = await hostProgram({ under: ["unshare", "-Urm", "sh", "-c", hide, "sh"], code: start })
    expect(said).toMatch(/^SANDBOX_UNAVAILABLE: There is no bwrap in PATH\. Install bubblewrap/)
  })

  it("bwrap is something else, too old, or set-user-id", async () => {
    const old = join(folder, "old-bwrap")
    await writeFile(old, "#!/bin/sh\necho bubblewrap 0.4.1\n", { mode: 0o755 })
    const privileged = join(folder, "privileged-bwrap")
    await copyFile((await findProgram("bwrap")) ?? "", privileged)
    await chmod(privileged, 0o4755)
    for (const [bwrapPath, message] of [
      ["/bin/true", /not bubblewrap/],
      [old, /0\.4\.1, which is too old/],
      [privileged, /set-user-id.*chmod u-s/],
      [join(folder, "none"), /does not run/],
    ] as const) {
      await using executor = new BubblewrapCodeExecutor({ bwrapPath })
      await expectFailure(executor.start(), "SANDBOX_UNAVAILABLE", message)
    }
  })

  it.each(["{}", "{ cgroup: false }"])("user namespaces are closed, with %s", async (options) => {
    const close = `echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"`
    const said = await hostProgram({
      under: ["unshare", "-Ur", "sh", "-c", close, "sh"],
      code: start.replace("Executor()", `Executor(${options})`),
    })
    expect(said).toMatch(
      /^SANDBOX_UNAVAILABLE: bwrap could not make its namespaces .*sysctl -w user\.max_user_namespaces/s,
    )
  })

  it("nothing is missing: the same programs start", async () => {
    expect(await hostProgram({ under: ["unshare", "-Ur"], code: start })).toBe("started\n")
  })

  it("a tree without Python", async () => {
    const root = await mkdtemp(join(folder, "empty-"))
    await mkdir(join(root, "usr"))
    await chmod(root, 0o755)
    await using executor = new BubblewrapCodeExecutor({ root })
    await expectFailure(executor.start(), "SANDBOX_UNAVAILABLE", /has no python3/)
  })
})
