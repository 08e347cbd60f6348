import { describe, expect, it } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { BubblewrapCodeExecutor } from "./bubblewrap-code-executor.ts"

const made = (options: object): BubblewrapCodeExecutor => new BubblewrapCodeExecutor(options)

describe("the options of BubblewrapCodeExecutor", () => {
  it("become fields of the policy", () => {
    const { fields } = made({
      timeout: "5s",
      memory: "64MiB",
      cpus: 2,
      pids: 9,
      user: "1000:1000",
      env: { A: "1" },
    }).policy
    expect(fields).toMatchObject({
      limits: { wall: 5000, memory: 64 * 1024 ** 2, cpus: 2, pids: 9 },
      user: "1000:1000",
      env: { A: "1" },
    })
  })

  it.each([
    [{ imge: "x" }, /imge is not an option/],
    [{ work_dir: "/x" }, /did you mean workDir/],
    [{ root: "relative" }, /root: must be an absolute path/],
    [{ cgroup: true }, /cgroup/],
    [{ workDir: "/x", carry: false }, /Leave one out/],
    [{ policy: 7 }, /The policy is/],
  ])("are checked: %j", (options, message) => {
    expect(failureOf(() => made(options))).toMatch(/^OPTION_INVALID: /)
    expect(failureOf(() => made(options))).toMatch(message)
  })

  it.each([
    [{ network: { dangerously: "host" } }, /gives no network.*Docker/],
    [{ capabilities: ["NET_RAW"] }, /NET_RAW.*Docker/],
    [{ readOnlyRoot: false }, /read-only here in every case.*Docker/],
    [{ runtime: "runsc" }, /requires the runtime runsc/],
    [{ isolation: "vm" }, /requires the isolation "vm"/],
    [{ isolation: "userspace-kernel" }, /gVisor/],
  ])("refuse what this tier cannot give: %j", (policy, message) => {
    const failure = failureOf(() => made({ policy }))
    expect(failure).toMatch(/^SANDBOX_UNENFORCEABLE: /)
    expect(failure).toMatch(message)
  })

  it("refuse a policy for other tiers", () => {
    expect(failureOf(() => made({ policy: { tiers: ["docker"] } }))).toMatch(/^SANDBOX_FORBIDDEN: /)
    expect(made({ policy: { tiers: ["bubblewrap"], isolation: "container" } }).policy.fields.isolation).toBe(
      "container",
    )
  })
})
