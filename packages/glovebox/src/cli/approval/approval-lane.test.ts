import { describe, expect, it } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { type PolicyInput, SandboxPolicy } from "../../policy/index.ts"
import { type ApprovalLaneOptions, approvalLane } from "./approval-lane.ts"

const NONE = { file: undefined, isNamed: false, policy: undefined } as const
const FOUND = { file: "c.yaml", isNamed: false, policy: undefined } as const

function lane(policy: PolicyInput, options: Partial<ApprovalLaneOptions> = {}): string {
  const given = { asked: undefined, config: NONE, isTerminal: true, ...options }
  return approvalLane({ ...given, policy: new SandboxPolicy(policy) })
}

const WIDE = { network: { allow: ["example.com:443"] } }

describe("approvalLane", () => {
  it("lets code run unasked behind deny-all, and asks where it reaches more", () => {
    expect(lane({})).toBe("always")
    expect(lane(WIDE)).toBe("ask")
    expect(lane({ readOnlyRoot: false })).toBe("ask")
    expect(lane({ env: { KEY: "value" } })).toBe("ask")
  })

  it("takes more time or memory for no reach", () => {
    expect(lane({ limits: { wall: "1h", memory: "4GiB" }, image: "other:1" })).toBe("always")
  })

  it("follows what is said, the command line before the configuration", () => {
    expect(lane({}, { asked: "ask" })).toBe("ask")
    expect(lane(WIDE, { asked: "always" })).toBe("always")
    expect(lane(WIDE, { asked: "never", isTerminal: false })).toBe("never")
    expect(lane({}, { config: { ...FOUND, approve: "never" } })).toBe("never")
    expect(lane({}, { config: { ...FOUND, approve: "never" }, asked: "always" })).toBe("always")
  })

  it("refuses when it must ask and nobody is there", () => {
    expect(() => lane(WIDE, { isTerminal: false })).toThrow(
      /wider than deny-all \(network: allow example\.com:443\).*no terminal to ask on/,
    )
    expect(() => lane({}, { asked: "ask", isTerminal: false })).toThrow(/no terminal to ask on/)
  })

  it("does not let a file that was only found open the sandbox and run code unasked", () => {
    const config = { ...FOUND, approve: "always" } as const
    expect(failureOf(() => lane(WIDE, { config }))).toMatch(/^CONFIG_INVALID: c\.yaml, which was found/)
    expect(lane(WIDE, { config: { ...config, isNamed: true } })).toBe("always")
    expect(lane({}, { config })).toBe("always")
  })
})
