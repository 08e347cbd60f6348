import { spawnSync } from "node:child_process"
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { pythonFunction } from "../functions/python-function.ts"
import { type VirtualEnvContext, createVirtualEnvironment } from "./index.ts"
import { local } from "./local-subject.test-kit.ts"

let folder = ""
let workDir = ""
let virtualEnvContext: VirtualEnvContext

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-venv-"))
  workDir = join(folder, "coding")
  virtualEnvContext = await createVirtualEnvironment(join(workDir, ".venv"))
  await makePackage()
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

// A wheel is a zip with three files that say what it is.
async function makePackage(): Promise<void> {
  const code = `import sys, zipfile
info = "glovebox_probe-1.0.dist-info/"
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("glovebox_probe.py", "answer = 42")
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: glovebox-probe\\nVersion: 1.0\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "RECORD", "")`
  await mkdir(join(folder, "wheels"))
  const target = join(folder, "wheels", "glovebox_probe-1.0-py3-none-any.whl")
  const { status, stderr } = spawnSync(virtualEnvContext.envExe, ["-c", code, target])
  expect(status, String(stderr)).toBe(0)
}

const offline = (): Record<string, string> => ({ PIP_NO_INDEX: "1", PIP_FIND_LINKS: join(folder, "wheels") })

describe("a virtual environment", () => {
  it("has its programs first, for Python and for the shell", async () => {
    await using executor = local({ workDir, virtualEnvContext })
    const { stdout } = await executor.executeCodeBlocks([
      { language: "python", code: "import sys; print(sys.prefix, sys.prefix != sys.base_prefix)" },
      { language: "bash", code: "command -v pip; echo $VIRTUAL_ENV" },
    ])
    const { envDir, binPath } = virtualEnvContext
    expect(stdout).toBe(`${envDir} True\n${binPath}/pip\n${envDir}\n`)
  })

  it("takes what code installs, and keeps it; its files are no artifacts", async () => {
    await using executor = local({ workDir, virtualEnvContext, env: offline() })
    const installed = await executor.executeCodeBlocks([
      { language: "bash", code: "pip install glovebox-probe" },
      { language: "python", code: "import glovebox_probe; print(glovebox_probe.answer)" },
    ])
    expect(installed).toMatchObject({ exitCode: 0, stdout: "42\n", artifacts: [], artifactsTruncated: false })
  })

  it("takes what functions need, before any code runs", async () => {
    const own = await createVirtualEnvironment(join(folder, "own"))
    const functions = [
      pythonFunction({
        source: "def answer() -> int:\n    return glovebox_probe.answer",
        pythonPackages: ["glovebox-probe==1.0"],
        imports: ["glovebox_probe"],
      }),
    ]
    await using executor = local({ virtualEnvContext: own, functions, env: offline() })
    const code = "from functions import answer\nprint(answer())"
    const { stdout, artifacts } = await executor.executeCodeBlocks([{ language: "python", code }])
    expect([stdout, artifacts]).toEqual(["42\n", []])
    await executor.stop()
    await executor.start()
    expect((await executor.executeCodeBlocks([{ language: "python", code }])).stdout).toBe("42\n")
  })

  it("says what pip said when a package is not to be had", async () => {
    const functions = [
      pythonFunction({ source: "def f(): pass", pythonPackages: ["glovebox-no-such-thing"] }),
    ]
    await using executor = local({ virtualEnvContext, functions, env: offline() })
    await expectFailure(
      executor.start(),
      "PACKAGES_FAILED",
      /glovebox-no-such-thing[^]*No matching distribution/,
    )
  })

  it("is not needed for functions without packages; a module that cannot be imported is an error", async () => {
    const good = pythonFunction({ source: "def twice(x):\n    return 2 * x" })
    await using executor = local({ functions: [good], functionsModule: "kit" })
    const code = "import kit; print(kit.twice(21))"
    expect((await executor.executeCodeBlocks([{ language: "python", code }])).stdout).toBe("42\n")
    const bad = pythonFunction({ source: "def f():\n    pass", imports: ["glovebox_no_such_module"] })
    await using broken = local({ functions: [bad] })
    await expectFailure(broken.start(), "FUNCTION_INVALID", /No module named 'glovebox_no_such_module'/)
  })

  it("that cannot be made says why, and what to install", async () => {
    const fake = join(folder, "no-venv")
    await writeFile(
      fake,
      "#!/bin/sh\necho 'The virtual environment was not created successfully because ensurepip is not available.'\nexit 1",
    )
    await chmod(fake, 0o755)
    await expectFailure(
      createVirtualEnvironment(join(folder, "x"), { python: fake }),
      "VIRTUAL_ENV_FAILED",
      /apt install python3-venv/,
    )
    await expectFailure(
      createVirtualEnvironment(join(folder, "x"), { python: "glovebox-no-python" }),
      "VIRTUAL_ENV_FAILED",
      /no glovebox-no-python on the PATH/,
    )
    const file = join(folder, "is-a-file")
    await writeFile(file, "")
    await expectFailure(createVirtualEnvironment(file), "VIRTUAL_ENV_FAILED", /is-a-file/)
  })

  it("stops being made when that is no longer wanted, and leaves nothing running", async () => {
    const slow = join(folder, "slow")
    await writeFile(slow, `#!/bin/sh\ntouch ${folder}/slow-began\nexec sleep 600`)
    await chmod(slow, 0o755)
    const controller = new AbortController()
    const reason = new Error("not now")
    const making = createVirtualEnvironment(join(folder, "y"), { python: slow, signal: controller.signal })
    making.catch(() => {})
    while (!(await readdir(folder)).includes("slow-began")) await new Promise(setImmediate)
    controller.abort(reason)
    await expect(making).rejects.toBe(reason)
  })
})
