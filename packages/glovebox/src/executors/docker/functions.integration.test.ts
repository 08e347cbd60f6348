import { randomUUID } from "node:crypto"
import { existsSync } from "node:fs"
import { chmod, mkdtemp, rm, utimes, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { succeed, within } from "../../testing/expectations.ts"
import { python, sh } from "../../testing/programs.ts"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { pythonFunction } from "../functions/python-function.ts"
import type { DockerCommandLineCodeExecutor } from "./docker-command-line-code-executor.ts"
import { containersWith, dockerCommand } from "./docker-command.test-kit.ts"
import type { DockerCommandLineCodeExecutorOptions } from "./docker-options.ts"
import { HAS_NO_DOCKER, docker } from "./docker-subject.test-kit.ts"
import { findEngine } from "./engine-address.ts"
import { Engine } from "./engine.ts"
import { findUnusedImages } from "./unused-images.ts"

const DAY_MS = 24 * 3_600_000
// In every module of this file, so that no image that it makes is anyone else's.
const unique = randomUUID()

const add = pythonFunction({
  source: `def add(a: int, b: int = 1) -> int:\n    """The sum of two numbers."""\n    # ${unique}\n    return a + b`,
})
const root = pythonFunction({ source: "def root(x):\n    return math.isqrt(x)", imports: ["math"] })

interface Wheel {
  readonly name: string
  readonly version?: string
  readonly requires?: readonly string[]
  readonly files: Readonly<Record<string, string>>
}

// A wheel is a zip with three files about itself.
const BUILD_WHEELS = `import base64, hashlib, json, zipfile
for wheel in json.loads(open("wheels.json").read()):
    name, version = wheel["name"], wheel.get("version", "1.0")
    about = f"{name}-{version}.dist-info"
    files = dict(wheel["files"])
    requires = "".join(f"Requires-Dist: {each}\\n" for each in wheel.get("requires", []))
    files[about + "/METADATA"] = f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n{requires}"
    files[about + "/WHEEL"] = "Wheel-Version: 1.0\\nGenerator: a test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
    record = ""
    with zipfile.ZipFile(f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
            record += f"{path},sha256={digest},{len(text.encode())}\\n"
            archive.writestr(path, text)
        archive.writestr(about + "/RECORD", record + about + "/RECORD,,\\n")`

const greetWheel = (greeting: string): Wheel => ({
  name: "gb_test_greet",
  requires: ["gb_test_words>=1"],
  files: {
    "gb_test_greet/__init__.py": "",
    "gb_test_greet/deep/__init__.py": `from gb_test_words import WORLD\ndef greet(): return f"${greeting}, {WORLD}"\n`,
  },
})
const WORDS_WHEEL: Wheel = { name: "gb_test_words", files: { "gb_test_words.py": 'WORLD = "wörld"\n' } }
const greet = pythonFunction({
  source: `def hello() -> str:\n    # ${unique}\n    return greet()`,
  pythonPackages: ["gb-test-greet==1.0"],
  imports: [{ from: "gb_test_greet.deep", names: ["greet"] }],
})

describe.skipIf(HAS_NO_DOCKER)("functions in the Docker executor", () => {
  const images = new Set<string>()
  const folders: string[] = []

  // Whatever a test prepares is removed with the file's end.
  function withFunctions(options: DockerCommandLineCodeExecutorOptions): DockerCommandLineCodeExecutor {
    const executor = docker({ functions: [add], pool: false, ...options })
    executor.on("container-started", ({ imageDigest }) => images.add(imageDigest))
    return executor
  }

  /** A folder with these wheels, made in the sandbox, for this machine need not have Python. */
  async function wheelFolder(wheels: readonly Wheel[]): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "gb-wheels-"))
    folders.push(folder)
    await chmod(folder, 0o755)
    await putWheels(folder, wheels)
    return folder
  }

  async function putWheels(folder: string, wheels: readonly Wheel[]): Promise<void> {
    await using executor = docker({ pool: false })
    const list = python(`open("wheels.json", "w").write(r'''${JSON.stringify(wheels)}''')`)
    const { artifacts } = await succeed(executor, list, python(BUILD_WHEELS))
    for (const { path, content } of artifacts) {
      if (path.endsWith(".whl")) await writeFile(join(folder, path), content)
    }
  }

  const imageOf = async (options: DockerCommandLineCodeExecutorOptions): Promise<string | undefined> => {
    await using executor = withFunctions(options)
    const { sandbox } = await succeed(executor, python("import functions"))
    return sandbox.imageDigest
  }

  let wheelDir = ""
  beforeAll(async () => {
    wheelDir = await wheelFolder([greetWheel("hello"), WORDS_WHEEL])
  })
  afterAll(async () => {
    if (images.size > 0) await dockerCommand("rmi", "-f", ...images)
    for (const folder of folders) await rm(folder, { recursive: true, force: true })
  })

  it.each(["ready", "fresh"] as const)(
    "can be imported from a %s interpreter, a script in a folder, a shell",
    async (interpreter) => {
      await using executor = withFunctions({ functions: [add, root], interpreter })
      const { stdout } = await succeed(
        executor,
        python("from functions import add, root\nprint(add(2, 3), add(b=2, a=2), root(17))"),
        python("# filename: tools/deep/plan.py\nimport functions\nprint(functions.add(6))"),
        sh(
          `python3 -c 'import functions; print(functions.add(7))'; cd /; python3 -m timeit -n 1 -r 1 'import functions' > /dev/null && echo ok`,
        ),
        python(
          "import multiprocessing, functions\nprint(multiprocessing.Pool(1).apply(functions.add, (8,)))",
        ),
      )
      expect(stdout).toBe("5 4 4\n7\n8\nok\n9\n")
    },
  )

  it("are in a module of the name that was chosen, and described by it", async () => {
    await using executor = withFunctions({ functionsModule: "tools_for_you" })
    expect(executor.describeFunctions()).toBe(
      `The Python module \`tools_for_you\` has the functions below. Import those you use, for example \`from tools_for_you import add\`.

def add(a: int, b: int = 1) -> int:
    """The sum of two numbers."""
    ...`,
    )
    const { stdout } = await succeed(
      executor,
      python(`from tools_for_you import add
print(add(1), add.__doc__)
try: import functions
except ModuleNotFoundError as error: print(error.name)`),
    )
    expect(stdout).toBe("2 The sum of two numbers.\nfunctions\n")
  })

  it("are still there beside a PYTHONPATH of the policy's own", async () => {
    await using executor = withFunctions({ env: { PYTHONPATH: "/workspace/own" } })
    const { stdout } = await succeed(
      executor,
      python("# filename: own/mine.py\nVALUE = 41"),
      python("import functions, mine\nprint(functions.add(mine.VALUE))"),
    )
    expect(stdout).toBe("42\n")
  })

  it.each(["run", "session"] as const)("cannot be changed by code, in isolation by %s", async (isolation) => {
    await using executor = withFunctions({ isolation })
    const attack = python(`import functions, os, shutil
def attempt(what, action):
    try: action(); print("OPEN", what)
    except OSError: pass
place = os.path.dirname(functions.__file__)
print(place)
attempt("write", lambda: open(functions.__file__, "a"))
attempt("remove", lambda: os.remove(functions.__file__))
attempt("mode", lambda: os.chmod(functions.__file__, 0o777))
attempt("rename", lambda: os.rename(place, "/tmp/lib"))
attempt("add", lambda: open(place + "/sitecustomize.py", "w"))
attempt("cache", lambda: os.makedirs(place + "/__pycache__/x"))
attempt("link", lambda: os.symlink("/tmp", place + "/link"))
functions.add = lambda *_: "changed"
print(functions.add(1))`)
    const { stdout } = await succeed(executor, attack)
    expect(stdout).toBe("/opt/glovebox/lib\nchanged\n")
    expect((await succeed(executor, python("import functions\nprint(functions.add(1))"))).stdout).toBe("2\n")
  })

  it("have packages from a folder of wheels, and those that these need", async () => {
    await using executor = withFunctions({ functions: [add, greet], wheelDir })
    const { stdout, artifacts } = await succeed(
      executor,
      python(`import functions, importlib.metadata, gb_test_words, os
print(functions.hello(), functions.add(1), importlib.metadata.version("gb-test-greet"))
print(gb_test_words.__file__, os.path.exists("/wheels"), os.listdir("/workspace") == [os.path.basename(__file__)])`),
    )
    expect(stdout).toBe("hello, wörld 2 1.0\n/opt/glovebox/lib/gb_test_words.py False True\n")
    expect(artifacts).toEqual([])
  })

  it("whose packages are not to be had are an error with pip's words", async () => {
    const lonely = await wheelFolder([greetWheel("hello")])
    for (const [functions, folder, words] of [
      [[greet], lonely, /No matching distribution found for gb.test.words/],
      [
        [pythonFunction({ source: "def f(): pass", pythonPackages: ["gb-no-such-package"] })],
        wheelDir,
        /No matching distribution found for gb-no-such-package/,
      ],
      [
        [pythonFunction({ source: "def f(): pass", pythonPackages: ["gb-test-words>=2"] })],
        wheelDir,
        /gb-test-words>=2.*from versions: 1\.0|from versions: 1\.0.*gb-test-words>=2/s,
      ],
    ] as const) {
      await using executor = withFunctions({ functions, wheelDir: folder })
      await expectFailure(executor.start(), "PACKAGES_FAILED", words)
    }
  })

  it("whose packages have nowhere to come from are an error that says what to do", async () => {
    await using executor = withFunctions({ functions: [greet] })
    const failure = await expectFailure(executor.start(), "PACKAGES_FAILED", /Give wheelDir/)
    expect(failure.message).toContain("gb-test-greet==1.0")
  })

  it("whose wheels are not there, or are not wheels, are an error", async () => {
    await using nowhere = withFunctions({ functions: [greet], wheelDir: join(wheelDir, "nowhere") })
    await expectFailure(nowhere.start(), "POLICY_MOUNT_REFUSED", /nowhere/)
    const folder = await wheelFolder([])
    await writeFile(join(folder, "gb_test_greet-1.0-py3-none-any.whl"), "no zip")
    await using broken = withFunctions({ functions: [greet], wheelDir: folder })
    await expectFailure(broken.start(), "PACKAGES_FAILED", /gb.test.greet.*invalid/s)
  })

  it("that fail to load are an error with Python's words", async () => {
    for (const [source, words, imports] of [
      ["def f(): pass", /ModuleNotFoundError: No module named 'gb_no_such_module'/, ["gb_no_such_module"]],
      ["@undefined_decorator\ndef f(): pass", /NameError: name 'undefined_decorator' is not defined/, []],
      ["def f(x=1 / 0): pass", /ZeroDivisionError/, []],
      ["def f():\n    return return", /SyntaxError/, []],
    ] as const) {
      await using executor = withFunctions({ functions: [pythonFunction({ source, imports })] })
      await expectFailure(executor.start(), "FUNCTION_INVALID", words)
      // Nothing is kept of the failure.
      if (imports.length > 0) await expectFailure(executor.start(), "FUNCTION_INVALID", words)
    }
  })

  it("are evaluated nowhere but in the sandbox", async () => {
    const mark = join(tmpdir(), `gb-evaluated-${unique}`)
    const source = `@(lambda function: (open(${JSON.stringify(mark)}, "w").close(), function)[1])
def marked(path=open(${JSON.stringify(`${mark}-default`)}, "w").name): return path`
    const functions = [pythonFunction({ source })]
    await using executor = withFunctions({ functions })
    executor.describeFunctions()
    const { stdout } = await succeed(
      executor,
      python(`import os\nfrom functions import marked\nprint(marked(), os.path.exists(marked()))`),
    )
    expect(stdout).toBe(`${mark}-default True\n`)
    expect([existsSync(mark), existsSync(`${mark}-default`)]).toEqual([false, false])
  })

  it("are prepared once for all executors, and anew when a function, the module or a wheel changes", async () => {
    const folder = await wheelFolder([greetWheel("hello"), WORDS_WHEEL])
    const options = { functions: [greet], wheelDir: folder }
    const first = await imageOf(options)
    expect(first).toMatch(/^sha256:/)
    expect(await imageOf(options)).toBe(first)
    const together = await Promise.all([imageOf(options), imageOf(options)])
    expect(together).toEqual([first, first])
    const others = [
      await imageOf({ ...options, functions: [greet, root] }),
      await imageOf({ functions: [add] }),
    ]
    await putWheels(folder, [greetWheel("other")])
    const wheel = join(folder, "gb_test_greet-1.0-py3-none-any.whl")
    await utimes(wheel, new Date(), new Date(Date.now() + 5_000))
    await using changed = withFunctions(options)
    const { stdout, sandbox } = await succeed(changed, python("import functions\nprint(functions.hello())"))
    expect(stdout).toBe("other, wörld\n")
    expect(new Set([first, sandbox.imageDigest, ...others]).size).toBe(4)
  })

  it("are images that are unused when no container is of them and a day has gone by", async () => {
    const engine = new Engine(await findEngine())
    try {
      const later = Date.now() + DAY_MS + 60_000
      const options = { functions: [add, pythonFunction({ source: "def of_gc(): pass" })] }
      const isUnused = async (id: string | undefined, now?: number): Promise<boolean> =>
        (await findUnusedImages(engine, now)).some((image) => image.id === id)
      let image: string | undefined
      {
        await using executor = withFunctions({ ...options, isolation: "session" })
        image = (await succeed(executor, python("import functions"))).sandbox.imageDigest
        expect([await isUnused(image), await isUnused(image, later)]).toEqual([false, false])
      }
      expect([await isUnused(image), await isUnused(image, later)]).toEqual([false, true])
      const base = await engine.image("glovebox/sandbox:py3")
      expect(await isUnused(base?.id, later)).toBe(false)
      await engine.removeImage(image ?? "")
      images.delete(image ?? "")
      expect(await engine.image(image ?? "")).toBeUndefined()
      await using again = withFunctions(options)
      expect((await succeed(again, python("import functions\nprint(functions.of_gc())"))).stdout).toBe(
        "None\n",
      )
    } finally {
      engine.close()
    }
  })

  it("take a stop while they are prepared, and leave no container", async () => {
    const source = "@(lambda function: (__import__('time').sleep(40), function)[1])\ndef slow(): pass"
    const containerName = `gb-functions-${unique}`
    await using executor = withFunctions({ functions: [pythonFunction({ source })], containerName })
    const listed = async (): Promise<string[]> =>
      (await containersWith(`name=${containerName}`)).map(({ state }) => state)
    const call = expectFailure(executor.executeCodeBlocks([python("1")]), "EXECUTOR_STOPPED")
    await expect.poll(listed, { timeout: 20_000 }).toContain("running")
    await within(executor.stop(), 10, "stop")
    await call
    await expect.poll(listed, { timeout: 5_000 }).toEqual([])
  })
})
