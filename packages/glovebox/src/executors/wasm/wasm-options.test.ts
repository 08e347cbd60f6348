import { describe, expect, it } from "vitest"
import type { PolicyInput } from "../../policy/index.ts"
import { pythonFunction } from "../functions/python-function.ts"
import { type WasmCodeExecutorOptions, readWasmOptions } from "./wasm-options.ts"

const refusal = (options: unknown): unknown => {
  try {
    return readWasmOptions(options as WasmCodeExecutorOptions)
  } catch (error) {
    return error
  }
}

describe("the options of the embedded executor", () => {
  it("have defaults, of which the policy is deny-all", () => {
    const { policy, isolation, concurrency, pool, carry, library } = readWasmOptions({})
    expect(policy.widenings()).toEqual([])
    expect({ isolation, concurrency, pool, carry, library }).toEqual({
      isolation: "run",
      concurrency: 4,
      pool: { size: 2, idleLease: 300_000 },
      carry: { maxBytes: 64 * 1024 ** 2, maxFiles: 4096 },
      library: "",
    })
  })

  it("put shorthands in the place of the policy's fields", () => {
    const { policy } = readWasmOptions({
      policy: { env: { A: "1" } },
      timeout: "2s",
      memory: "64MiB",
      env: { B: "2" },
    })
    expect(policy.fields.limits).toMatchObject({ wall: 2000, memory: 64 * 1024 ** 2 })
    expect(policy.fields.env).toEqual({ A: "1", B: "2" })
  })

  it("refuse what is none, and say what was meant", () => {
    expect(refusal({ mem_limit: "1GiB" })).toMatchObject({ code: "OPTION_INVALID", message: /mean memory/ })
    expect(refusal({ image: "x" })).toMatchObject({
      code: "OPTION_INVALID",
      message: /image is not an option/,
    })
    expect(refusal({ workDir: ".", carry: false })).toMatchObject({ code: "OPTION_INVALID" })
    expect(refusal({ functionsModule: "1 2" })).toMatchObject({ code: "OPTION_INVALID" })
    expect(refusal({ env: { A: "x".repeat(200_000) } })).toMatchObject({
      code: "OPTION_INVALID",
      message: /environment is \d+ bytes/,
    })
    expect(refusal({ policy: { env: { PYTHONHOME: "/x" } } })).toMatchObject({
      code: "OPTION_INVALID",
      message: /PYTHONHOME/,
    })
  })

  const cannot: readonly (readonly [PolicyInput, RegExp])[] = [
    [{ network: { allow: ["example.com:443"] } }, /network.*no sockets.*docker/],
    [{ network: { dangerously: "bridge" } }, /network.*docker/],
    [{ mounts: [{ source: "/srv/data", target: "/data" }] }, /mounts.*workDir.*docker/],
    [{ capabilities: ["NET_RAW"] }, /capabilities.*docker/],
    [{ seccomp: { dangerously: "unconfined" } }, /seccomp.*docker/],
    [{ readOnlyRoot: false }, /readOnlyRoot.*docker/],
    [{ user: "0:0" }, /user.*docker/],
    [{ image: "python:3.13" }, /python:3\.13.*docker/],
    [{ runtime: "runsc" }, /runsc.*docker/],
    [{ isolation: "container" }, /container.*docker/],
    [{ isolation: "vm" }, /vm.*wasm/],
    [{ limits: { cpus: 0.5 } }, /cpus.*docker/],
    [{ limits: { memory: "16MiB" } }, /memory.*32 MiB/],
  ]
  for (const [policy, message] of cannot) {
    it(`refuse a policy with ${JSON.stringify(policy)}`, () => {
      expect(refusal({ policy })).toMatchObject({ code: "SANDBOX_UNENFORCEABLE", message })
    })
  }

  it("take a policy that asks for this boundary, or bounds what the code cannot have anyway", () => {
    expect(
      readWasmOptions({ policy: { isolation: "wasm", limits: { pids: 4, cpus: 2 } } }).policy,
    ).toBeDefined()
  })

  it("refuse functions that need packages, and make a module of others", () => {
    const plain = pythonFunction({ source: "def add(a, b):\n    return a + b" })
    expect(readWasmOptions({ functions: [plain] }).library).toContain("def add(a, b):")
    const needy = pythonFunction({ source: "def f():\n    return 1", pythonPackages: ["numpy"] })
    expect(refusal({ functions: [needy] })).toMatchObject({
      code: "SANDBOX_UNENFORCEABLE",
      message: /numpy.*docker/,
    })
  })
})
