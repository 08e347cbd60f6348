import { describe, expect, it } from "vitest"
import { expectFailure } from "../core/expect-failure.test-kit.ts"
import { failureOf } from "../core/failure-of.test-kit.ts"
import { listProbes } from "./list-probes.ts"
import { type VerifyOptions, readVerifyOptions } from "./verify-options.ts"
import { verify } from "./verify.ts"

describe("the options of verify", () => {
  it("have defaults: Docker, a sandbox for each call, all probes", () => {
    const { sandbox, path, mode, policy } = readVerifyOptions({}, {})
    expect([sandbox, path, mode, policy.fields.image]).toEqual([
      "docker",
      "cold",
      "standard",
      "python:3-slim",
    ])
  })

  it("put the image into the policy, and so into its digest", () => {
    const { policy } = readVerifyOptions({}, { image: "other:1" })
    expect(policy.fields.image).toBe("other:1")
    expect(policy.sha256).not.toBe(readVerifyOptions({}, {}).policy.sha256)
  })

  it("take for a kernel an image that has one, and its only path", () => {
    const { policy, path } = readVerifyOptions({}, { sandbox: "jupyter" })
    expect([policy.fields.image, path]).toEqual(["glovebox/jupyter:py3", "session"])
  })

  it("are refused when they say nothing known", () => {
    const options = [{ mode: "slow" }, { sandbox: "local" }, { path: "warm" }, { only: [] }, { fast: true }]
    for (const one of options) {
      const failure = failureOf(() => readVerifyOptions({}, one as unknown as VerifyOptions))
      expect(failure).toMatch(/^OPTION_INVALID: /)
    }
  })

  it("name probes that there are; a mistake is met before anything is made", async () => {
    await expectFailure(
      verify({}, { only: ["fs.writ-root"], dockerHost: "unix:///nonexistent.sock" }),
      "OPTION_INVALID",
      /no probe fs\.writ-root.*did you mean fs\.write-root\?/,
    )
  })
})

describe("the list of probes", () => {
  it("has those of the policy, and of a quick run fewer", () => {
    const all = listProbes({ mounts: [{ source: "/data", target: "/data", mode: "ro" }] })
    expect(all).toContainEqual({
      id: "fs.mount-write:/data",
      family: "filesystem",
      title: "write to what the policy mounts at /data, read-only",
      why: "a folder that both sides write is how code changes files of the host",
      isQuick: true,
      expected: "BLOCKED",
      control: ["mounts-writable"],
    })
    const quick = listProbes({}, { mode: "quick" })
    expect(quick.length).toBeGreaterThanOrEqual(35)
    expect(quick.length).toBeLessThan(listProbes({}).length)
    expect(quick.every(({ isQuick }) => isQuick)).toBe(true)
  })
})
