import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { SandboxPolicy } from "../../policy/index.ts"
import { pythonFunction } from "../functions/python-function.ts"
import { LocalCommandLineCodeExecutor, type LocalCommandLineCodeExecutorOptions } from "./index.ts"

const make = (options: object): LocalCommandLineCodeExecutor =>
  new LocalCommandLineCodeExecutor(options as LocalCommandLineCodeExecutorOptions)
const onHost = (options: object): LocalCommandLineCodeExecutor =>
  make({ dangerouslyRunOnHost: true, ...options })

const warnings = vi.fn<typeof process.emitWarning>()

beforeEach(() => {
  warnings.mockClear()
  vi.spyOn(process, "emitWarning").mockImplementation(warnings)
})

afterEach(() => {
  vi.restoreAllMocks()
})

describe("LocalCommandLineCodeExecutor", () => {
  it.each([[{}], [{ dangerouslyRunOnHost: false }], [{ dangerouslyRunOnHost: undefined, workDir: "x" }]])(
    "is refused unless told that it is dangerous: %j",
    (options) => {
      expect(failureOf(() => make(options))).toMatch(
        /^HOST_EXECUTION_REFUSED: .*docker.*bubblewrap.*wasm.*dangerouslyRunOnHost: true/,
      )
    },
  )

  it("warns once in a process, and not for what is refused", async () => {
    vi.resetModules()
    const fresh = await import("./index.ts")
    expect(failureOf(() => make({}))).toMatch(/^HOST_EXECUTION_REFUSED/)
    expect(warnings).not.toHaveBeenCalled()
    const three = [1, 2, 3].map(() => new fresh.LocalCommandLineCodeExecutor({ dangerouslyRunOnHost: true }))
    expect(three).toHaveLength(3)
    expect(warnings).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/Prefer a sandbox/), {
      type: "GloveboxWarning",
      code: "GLOVEBOX_RUNS_ON_HOST",
    })
  })

  it.each<[object, RegExp]>([
    [{ work_dir: "x" }, /work_dir is not an option; did you mean workDir\?/],
    [{ virtual_env_context: {} }, /did you mean virtualEnvContext\?/],
    [{ cleanup_temp_files: true }, /did you mean cleanupTempFiles\?/],
    [{ workDir: "" }, /workDir/],
    [{ concurrency: 0 }, /concurrency/],
    [{ carry: { maxBytes: "lots" } }, /carry/],
    [{ virtualEnvContext: { binPath: "/x" } }, /virtualEnvContext\.envExe/],
    [{ functionsModule: "not a name" }, /not a name/],
    [{ functions: ["def f(): pass"] }, /pythonFunction\(\)/],
    [{ languages: { ruby: { command: "ruby -c x" } } }, /is no program/],
    [{ env: { A: "a\0b" } }, /NUL/],
  ])("refuses %j", (options, message) => {
    expect(failureOf(() => onHost(options))).toMatch(message)
  })

  it("refuses a policy that asks for what nobody enforces here, and says who would", () => {
    for (const [policy, named] of [
      [{ limits: { memory: "1GiB" } }, "limits.memory"],
      [{ limits: { pids: 9 } }, "limits.pids"],
      [{ network: { allow: ["example.com:443"] } }, "network"],
      [{ mounts: [{ source: "/srv/data", target: "/data" }] }, "mounts"],
      [{ capabilities: ["CHOWN"] }, "capabilities"],
      [{ isolation: "wasm" as const }, "isolation"],
    ] as const) {
      const failure = failureOf(() => onHost({ policy }))
      expect(failure).toMatch(/^SANDBOX_UNENFORCEABLE: /)
      expect(failure).toContain(named)
      expect(failure).toMatch(/docker and bubblewrap/)
    }
  })

  it("refuses a policy that does not name it", () => {
    expect(failureOf(() => onHost({ policy: { tiers: ["docker", "wasm"] } }))).toMatch(
      /^SANDBOX_FORBIDDEN: .*docker, wasm.*local/,
    )
    expect(onHost({ policy: { tiers: ["local"] } }).policy.fields.tiers).toEqual(["local"])
  })

  it("takes time, output and variables from the policy, and its own in their place", () => {
    const policy = new SandboxPolicy({ limits: { wall: "5s", output: 2048 }, env: { A: "1", B: "1" } })
    const { fields } = onHost({ policy, timeout: "7s", env: { B: "2" } }).policy
    expect(fields).toMatchObject({ limits: { wall: 7000, output: 2048 }, env: { A: "1", B: "2" } })
    expect(failureOf(() => onHost({ timeout: "soon" }))).toMatch(/^POLICY_INVALID: .*limits\.wall/)
  })

  it("refuses packages without a virtual environment instead of installing them into the host's Python", () => {
    const functions = [pythonFunction({ source: "def f(): pass", pythonPackages: ["pandas>=2"] })]
    expect(failureOf(() => onHost({ functions }))).toMatch(
      /^OPTION_INVALID: .*f needs pandas>=2.*createVirtualEnvironment/,
    )
  })

  it("tells a model of its functions", () => {
    const functions = [
      pythonFunction({ source: 'def twice(x: int) -> int:\n    """Doubles."""\n    return 2 * x' }),
    ]
    expect(onHost({ functions, functionsModule: "kit" }).describeFunctions()).toMatch(
      /from kit import twice[^]*def twice\(x: int\) -> int:/,
    )
  })
})
