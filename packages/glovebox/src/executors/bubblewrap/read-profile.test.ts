import { describe, expect, it } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { verdictOf } from "./bpf-evaluator.test-kit.ts"
import { readProfile } from "./read-profile.ts"
import { ALLOW, failWith, filterProgram } from "./seccomp-filter.ts"
import { filterArchitecture } from "./syscall-table.ts"

const x64 = filterArchitecture("x64")!
const EPERM = failWith(1)

function judge(profile: unknown, name: string, kernel = "6.1.0"): number {
  const program = filterProgram(readProfile(profile, x64, kernel), x64)
  return verdictOf(program, { number: x64.numbers.get(name)!, architecture: x64.audit })
}

const allow = { action: "SCMP_ACT_ALLOW" }
const base = { defaultAction: "SCMP_ACT_ERRNO" }

describe("a profile in Docker's format", () => {
  it("has its own answer for what it does not name", () => {
    expect(judge({ defaultAction: "SCMP_ACT_ERRNO", defaultErrnoRet: 38 }, "mount")).toBe(failWith(38))
    expect(judge({ defaultAction: "SCMP_ACT_ALLOW" }, "mount")).toBe(ALLOW)
  })

  it("leaves out what needs a capability, another processor, or a newer kernel", () => {
    const rule = { ...allow, names: ["mount"] }
    const withRule = (more: object): number => judge({ ...base, syscalls: [{ ...rule, ...more }] }, "mount")
    expect(withRule({})).toBe(ALLOW)
    expect(withRule({ includes: { caps: ["CAP_SYS_ADMIN"] } })).toBe(EPERM)
    expect(withRule({ includes: { arches: ["arm64"] } })).toBe(EPERM)
    expect(withRule({ includes: { arches: ["amd64", "x32"] } })).toBe(ALLOW)
    expect(withRule({ includes: { minKernel: "7.0" } })).toBe(EPERM)
    expect(withRule({ includes: { minKernel: "4.8" } })).toBe(ALLOW)
    expect(withRule({ excludes: { caps: ["CAP_SYS_ADMIN"] } })).toBe(ALLOW)
    expect(withRule({ excludes: { arches: ["amd64"] } })).toBe(EPERM)
  })

  it("may name calls that this kernel has not, where that gives less", () => {
    expect(judge({ ...base, syscalls: [{ ...allow, names: ["a_later_call", "read"] }] }, "read")).toBe(ALLOW)
  })

  it.each([
    ["no profile at all", { syscalls: 1 }, /not in Docker's format/],
    ["one for other processors", { ...base, architectures: ["SCMP_ARCH_S390X"] }, /not for this processor/],
    [
      "an action that somebody must watch",
      { ...base, syscalls: [{ action: "SCMP_ACT_NOTIFY", names: ["read"] }] },
      /SCMP_ACT_NOTIFY/,
    ],
    [
      "two actions for one call",
      {
        ...base,
        syscalls: [
          { ...allow, names: ["read"] },
          { action: "SCMP_ACT_KILL", names: ["read"] },
        ],
      },
      /two actions/,
    ],
    [
      "a call to refuse that nobody knows",
      { defaultAction: "SCMP_ACT_ALLOW", syscalls: [{ action: "SCMP_ACT_ERRNO", names: ["mystery"] }] },
      /mystery/,
    ],
    [
      "an unknown comparison",
      {
        ...base,
        syscalls: [{ ...allow, names: ["read"], args: [{ index: 0, value: 1, op: "SCMP_CMP_ODD" }] }],
      },
      /SCMP_CMP_ODD/,
    ],
  ])("is refused when it is %s", (_, profile, message) => {
    const failure = failureOf(() => readProfile(profile, x64, "6.1.0"))
    expect(failure).toMatch(/^SANDBOX_UNENFORCEABLE: /)
    expect(failure).toMatch(message)
  })
})
