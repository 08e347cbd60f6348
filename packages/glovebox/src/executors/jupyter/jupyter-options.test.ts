import { describe, expect, it } from "vitest"
import { GloveboxError } from "../../core/index.ts"
import { SandboxPolicy } from "../../policy/index.ts"
import { DockerJupyterCodeExecutor } from "./docker-jupyter-code-executor.ts"
import { readJupyterOptions } from "./jupyter-options.ts"

function errorOf(options: object): GloveboxError {
  try {
    return void new DockerJupyterCodeExecutor(options) as never
  } catch (error) {
    if (GloveboxError.is(error)) return error
    throw error
  }
}

describe("readJupyterOptions", () => {
  it("has an image of its own, which is never looked for in a registry", () => {
    for (const options of [
      {},
      { policy: {} },
      { policy: new SandboxPolicy() },
      { policy: new SandboxPolicy().toJSON() },
    ]) {
      const { docker } = readJupyterOptions(options)
      expect([docker.policy.fields.image, docker.pull]).toEqual(["glovebox/jupyter:py3", "never"])
    }
    const named = readJupyterOptions({ policy: { image: "mine:1" } }).docker
    expect([named.policy.fields.image, named.pull]).toEqual(["mine:1", "missing"])
    expect(
      readJupyterOptions({ image: "mine:2", policy: { image: "mine:1" } }).docker.policy.fields.image,
    ).toBe("mine:2")
  })

  it("is one session, without limits of its own beyond the policy's", () => {
    const { docker, idleTimeout, richOutput } = readJupyterOptions({
      idleTimeout: "30m",
      richOutput: { maxCount: 3 },
    })
    expect(docker).toMatchObject({ isolation: "session", pool: { size: 1 } })
    expect([idleTimeout, richOutput]).toEqual([1_800_000, { maxBytes: 16 * 1024 ** 2, maxCount: 3 }])
    expect(docker.policy.widenings()).toEqual([])
  })

  it.each([
    [{ isolation: "run" }, /isolation is not an option of a kernel/],
    [{ concurrency: 4 }, /Use several executors for several kernels/],
    [{ pool: false }, /pool is not an option of a kernel/],
    [{ idleTimeout: "soon" }, /idleTimeout: "soon" is not a time/],
    [{ idleTimeout: 0 }, /idleTimeout/],
    [{ richOutput: { maxByte: 1 } }, /maxByte/],
    [{ timout: "1s" }, /did you mean timeout/],
  ])("refuses %j", (options, message) => {
    const error = errorOf(options)
    expect(error.code).toBe("OPTION_INVALID")
    expect(error.message).toMatch(message)
  })

  it.each([[null], ["x"], [5], [[]]])("%j is no options", (options) => {
    const { code, message } = errorOf(options as never)
    expect([code, message]).toEqual(["OPTION_INVALID", expect.stringMatching(/not valid: .*expected object/)])
  })

  it("a policy that does not name it forbids it", () => {
    expect(errorOf({ policy: { tiers: ["docker"] } }).code).toBe("SANDBOX_FORBIDDEN")
    expect(readJupyterOptions({ policy: { tiers: ["jupyter"] } }).docker.policy.fields.tiers).toEqual([
      "jupyter",
    ])
  })
})
