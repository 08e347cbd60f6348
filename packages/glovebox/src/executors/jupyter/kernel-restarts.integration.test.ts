import { describe, expect, it } from "vitest"
import { GloveboxError } from "../../core/index.ts"
import type { DockerJupyterCodeExecutor } from "./docker-jupyter-code-executor.ts"
import { HAS_NO_DOCKER, bash, cell, jupyter } from "./jupyter-subject.test-kit.ts"

const END = { language: "python", code: "import os\nos._exit(0)" }
// A kernel needs room in /tmp, of which the old one had some.
const END_FOR_GOOD = bash(`kill -9 -1
while ls -d /tmp/glovebox-kernel-* > /dev/null 2>&1; do :; done
cat /dev/zero > /tmp/full 2> /dev/null
true`)
const PRINT = { language: "python", code: "print('second')" }

describe.skipIf(HAS_NO_DOCKER)("a kernel that is started anew", () => {
  // Runs both, and does something while the second waits for its kernel.
  const between = async (executor: DockerJupyterCodeExecutor, act: () => void, signal?: AbortSignal) => {
    const types: string[] = []
    try {
      for await (const event of executor.stream([END, PRINT], { signal })) {
        types.push(event.type)
        if (event.type === "block-finished" && event.block === 0) act()
      }
      return { types, error: undefined }
    } catch (error) {
      return { types, error }
    }
  }

  it("within a call: the next block runs in it", async () => {
    await using executor = jupyter({ timeout: "300ms" })
    const result = await executor.executeCodeBlocks([END, PRINT])
    // Its start takes longer than a block may.
    expect(result).toMatchObject({ stdout: "second\n", exitCode: 0, termination: "exit", stateLost: true })
  })

  it("when the call is cancelled meanwhile: the next has it, and the files", async () => {
    await using executor = jupyter()
    await cell(executor, "open('file', 'w').close()")
    const controller = new AbortController()
    const reason = new Error("enough")
    const { types, error } = await between(executor, () => controller.abort(reason), controller.signal)
    expect(error).toBe(reason)
    expect(types).toEqual(["started", "block-started", "block-finished"])
    const next = await cell(executor, "import os\nprint(os.path.exists('file'))")
    expect(next).toMatchObject({ stdout: "True\n", stateLost: true })
  })

  it("when the executor is stopped meanwhile: it is", async () => {
    await using executor = jupyter()
    let stopping: Promise<void> | undefined
    const { error } = await between(executor, () => {
      stopping = executor.stop()
    })
    await stopping
    expect(GloveboxError.is(error, "EXECUTOR_STOPPED")).toBe(true)
    await executor.start()
    expect((await cell(executor, "print('works')")).stdout).toBe("works\n")
  })

  it("and cannot be: a call that has begun ends, and nothing of it runs twice", async () => {
    await using executor = jupyter()
    await cell(executor, "open('file', 'w').close()")
    const events: string[] = []
    const call = (async () => {
      for await (const event of executor.stream([bash("echo once"), END_FOR_GOOD, PRINT])) {
        events.push("text" in event ? event.text : event.type)
      }
    })()
    const error: unknown = await call.catch((reason: unknown) => reason)
    expect(GloveboxError.is(error, "SANDBOX_LOST")).toBe(true)
    expect(String(error)).toMatch(/No new Jupyter kernel .*No space left.* without the files/)
    const begun = ["block-started", "block-finished"]
    expect(events.filter((event) => event !== "started")).toEqual([
      "block-started",
      "once\n",
      "block-finished",
      ...begun,
    ])
    const next = await cell(executor, "import os\nprint(os.path.exists('file'))")
    expect(next).toMatchObject({ stdout: "False\n", stateLost: true })
    expect(next.stateLostBecause).toMatch(/its files are gone with it/)
  })

  it("and cannot be, between calls: the next begins in a new container, and says that files are gone", async () => {
    await using executor = jupyter()
    await cell(executor, "open('file', 'w').close()")
    expect(await executor.executeCodeBlocks([END_FOR_GOOD])).toMatchObject({ exitCode: 0, stateLost: true })
    const next = await cell(executor, "import os\nprint(os.path.exists('file'))")
    expect(next).toMatchObject({ stdout: "False\n", stateLost: true })
    expect(next.stateLostBecause).toMatch(/container was replaced, and its files are gone with it/)
    expect(await cell(executor, "1")).toMatchObject({ stateLost: false })
  })

  it("has nothing of what was planted for its start, and yet the packages of its user", async () => {
    await using executor = jupyter()
    await cell(
      executor,
      `import os, site
for folder in ("/workspace/.ipython/profile_default/startup", "/tmp/.ipython/profile_default/startup"):
    os.makedirs(folder)
    open(folder + "/00.py", "w").write("planted = True")
for name in ("zmq", "ipykernel", "IPython", "json", "ipykernel_launcher"):
    open(name + ".py", "w").write("raise SystemExit(66)")
for name in ("ipython_config.py", "ipython_kernel_config.py"):
    open(name, "w").write("c.InteractiveShellApp.exec_lines = ['planted = True']")
own = site.getusersitepackages()
os.makedirs(own)
for name in ("usercustomize.py", "sitecustomize.py"):
    open(own + "/" + name, "w").write("import builtins; builtins.planted = True")
open(own + "/planted.pth", "w").write("import builtins; builtins.planted = True")
open(own + "/mine.py", "w").write("value = 7")
os._exit(0)`,
    )
    const code =
      "import builtins, mine\nprint('planted' in globals(), hasattr(builtins, 'planted'), mine.value)"
    expect((await cell(executor, code)).stdout).toBe("False False 7\n")
  })
})
