import { describe, expect, it } from "vitest"
import { expectFailure } from "../core/expect-failure.test-kit.ts"
import { failureOf } from "../core/failure-of.test-kit.ts"
import { type PolicyInput, TIERS, type Tier } from "../policy/index.ts"
import { BubblewrapCodeExecutor } from "./bubblewrap/index.ts"
import { DockerCommandLineCodeExecutor } from "./docker/index.ts"
import { TIER_NOTES } from "./factory/tier-notes.ts"
import { createExecutor } from "./index.ts"
import { DockerJupyterCodeExecutor } from "./jupyter/index.ts"
import { LocalCommandLineCodeExecutor } from "./local/index.ts"
import { WasmCodeExecutor } from "./wasm/index.ts"

const MAKERS: Readonly<Record<Tier, (policy: PolicyInput) => unknown>> = {
  docker: (policy) => new DockerCommandLineCodeExecutor({ policy }),
  jupyter: (policy) => new DockerJupyterCodeExecutor({ policy }),
  bubblewrap: (policy) => new BubblewrapCodeExecutor({ policy }),
  wasm: (policy) => new WasmCodeExecutor({ policy }),
  local: (policy) => new LocalCommandLineCodeExecutor({ policy, dangerouslyRunOnHost: true }),
}
const NOWHERE = { DOCKER_HOST: "unix:///nonexistent/docker.sock" }

async function withoutDocker<T>(use: () => Promise<T>): Promise<T> {
  const before = process.env["DOCKER_HOST"]
  Object.assign(process.env, NOWHERE)
  try {
    return await use()
  } finally {
    if (before === undefined) delete process.env["DOCKER_HOST"]
    else process.env["DOCKER_HOST"] = before
  }
}

describe("createExecutor", () => {
  it("takes the embedded sandbox where no engine answers, and says so", async () => {
    await using executor = await withoutDocker(async () => createExecutor())
    const { sandbox, because, tried, protects, doesNotProtectAgainst, what } = executor.describe()
    expect(sandbox).toBe("wasm")
    expect(because).toMatch(/^no Docker engine answers at unix:\/\/\/nonexistent.*; .*nothing but Node$/)
    expect(tried).toEqual([
      {
        sandbox: "docker",
        reason: expect.stringContaining("ENOENT") as string,
        remedy: expect.stringContaining("install and start Docker") as string,
      },
    ])
    expect({ what, protects, doesNotProtectAgainst }).toEqual(TIER_NOTES.wasm)
  })

  it("says of every kind what it holds and what it does not", () => {
    for (const tier of TIERS) {
      expect(TIER_NOTES[tier].protects.length).toBeGreaterThan(0)
      expect(TIER_NOTES[tier].doesNotProtectAgainst.length).toBeGreaterThan(0)
    }
  })

  it("does not fall back to the host, nor to what the policy forbids", async () => {
    await withoutDocker(async () => {
      await expectFailure(
        createExecutor({ policy: { tiers: ["docker"] } }),
        "SANDBOX_FORBIDDEN",
        /nonexistent/,
      )
      await expectFailure(
        createExecutor({ policy: { tiers: ["docker", "local"] }, dangerouslyRunOnHost: true }),
        "SANDBOX_FORBIDDEN",
        /wasm: the policy names only docker, local/,
      )
      await using named = await createExecutor({ image: "python:3-slim" })
      expect(named.describe()).toMatchObject({ sandbox: "docker", because: "image asks for it" })
      await expectFailure(named.start(), "ENGINE_UNAVAILABLE", /nonexistent/)
    })
  })

  it("hands on what a kind refuses, with the reason why it is that kind", async () => {
    const policy = { network: { allow: ["example.com:443"] } }
    const failure = await withoutDocker(async () =>
      createExecutor({ policy }).catch((error: unknown) => error),
    )
    expect(failure).toMatchObject({
      code: "SANDBOX_UNENFORCEABLE",
      message: expect.stringMatching(/The sandbox is wasm, because .*nonexistent/) as string,
    })
  })

  it("runs on the host only when told twice", async () => {
    await expectFailure(
      createExecutor({ sandbox: "local" }),
      "HOST_EXECUTION_REFUSED",
      /docker.*bubblewrap.*wasm/,
    )
    await using executor = await createExecutor({
      sandbox: "local",
      dangerouslyRunOnHost: true,
      timeout: "5s",
    })
    expect(executor.describe()).toMatchObject({ sandbox: "local", because: "it was asked for", tried: [] })
    expect(executor.policy.fields.limits.wall).toBe(5000)
  })

  it("makes no kind that the policy does not name, nor does any make itself", async () => {
    for (const tier of TIERS) {
      const tiers = TIERS.filter((other) => other !== tier)
      const policy = { tiers }
      await expectFailure(
        withoutDocker(async () => createExecutor({ sandbox: tier, policy, dangerouslyRunOnHost: true })),
        "SANDBOX_FORBIDDEN",
      )
      expect(failureOf(() => MAKERS[tier](policy))).toMatch(
        new RegExp(`^SANDBOX_FORBIDDEN: .* this is ${tier}`),
      )
    }
  })

  it.each<[object, RegExp]>([
    [{ sandbox: "jupyter", concurrency: 2 }, /one call at a time/],
    [{ sandbox: "dokcer" }, /sandbox: must be one of auto, docker/],
    [{ sandboxes: "docker" }, /sandboxes is not an option; did you mean sandbox\?/],
    [{ sandbox: "wasm", image: "python:3-slim" }, /image is for docker and jupyter, and the sandbox is wasm/],
    [{ sandbox: "bubblewrap", dockerHost: "unix:///x" }, /dockerHost is for docker/],
    [
      { sandbox: "local", isolation: "run", dangerouslyRunOnHost: true },
      /isolation: "run" is not to be had with local/,
    ],
    [{ sandbox: "wasm", languages: { ruby: { command: "ruby" } } }, /languages/],
    [{ sandbox: "docker", concurrency: 0 }, /concurrency/],
    [{ policy: "strict" }, /policy is "strict"/],
    [{ docker: { image: "no/such:image" } }, /image is given under docker.*beside docker/],
    [{ sandbox: "wasm", wasm: { policy: {} } }, /policy is given under wasm/],
    [{ docker: { dockerHost: "unix:///nope.sock", pool: false } }, /dockerHost is given under docker/],
  ])("refuses %j", async (options, message) => {
    await expectFailure(createExecutor(options), "OPTION_INVALID", message)
  })

  it("stops choosing when that is no longer wanted", async () => {
    const reason = new Error("not now")
    await expect(createExecutor({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })
})
