import { describe, expect, it } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { SandboxPolicy } from "../../policy/index.ts"
import { DENY_ALL, WIDE, codeProposal } from "./approval-gate.test-kit.ts"
import { ApprovalGate, type ApprovalProposal, type ApprovalRule } from "./index.ts"

function lane(rules: readonly ApprovalRule[], proposal: ApprovalProposal): string {
  return new ApprovalGate({ rules }).laneOf(proposal)
}

function toolProposal(fields: Partial<ApprovalProposal<"tool">> = {}): ApprovalProposal<"tool"> {
  return { kind: "tool", payload: { tool: "read_file", arguments: {} }, agent: "coder", ...fields }
}

function blocks(...languages: readonly string[]): ApprovalProposal<"code"> {
  return codeProposal("", { payload: { codeBlocks: languages.map((language) => ({ code: "", language })) } })
}

describe("the default rules", () => {
  it("let code run unasked inside deny-all, and ask for anything wider", () => {
    expect(lane([], codeProposal("x", { policy: DENY_ALL }))).toBe("allow")
    expect(lane([], codeProposal("x", { policy: WIDE }))).toBe("ask")
    expect(lane([], codeProposal("x", { policy: new SandboxPolicy({ readOnlyRoot: false }) }))).toBe("ask")
  })

  it("take more time and memory for no reach, and no policy for any", () => {
    expect(lane([], codeProposal("x", { policy: new SandboxPolicy({ limits: { wall: "1h" } }) }))).toBe(
      "allow",
    )
    expect(lane([], codeProposal("x", { policy: undefined }))).toBe("ask")
    expect(lane([], codeProposal("x", { policy: () => undefined }))).toBe("ask")
  })

  it("ask for tools that want it, and for those of high risk", () => {
    expect(lane([], toolProposal())).toBe("ask")
    expect(lane([], toolProposal({ asks: false, risk: "low" }))).toBe("allow")
    expect(lane([], toolProposal({ asks: false, risk: "high" }))).toBe("ask")
  })

  it("let a policy be narrowed unasked, and nothing else", () => {
    const change = (from: SandboxPolicy, to: SandboxPolicy): string =>
      lane([], { kind: "policy", payload: { from: from.toJSON(), to: to.toJSON() }, agent: "a" })
    expect(change(WIDE, DENY_ALL)).toBe("allow")
    expect(change(DENY_ALL, WIDE)).toBe("ask")
    expect(change(DENY_ALL, new SandboxPolicy({ limits: { wall: "1h" } }))).toBe("ask")
    expect(change(DENY_ALL, new SandboxPolicy({ image: "other:1" }))).toBe("ask")
  })
})

describe("rules", () => {
  it("are tried in order, before the defaults; all that a rule names must hold", () => {
    const rules: ApprovalRule[] = [
      { when: { kind: "tool", tool: "read_*", risk: ["low", "medium"] }, then: "allow" },
      { when: { agent: "intern" }, then: "deny" },
      { when: { wider: true, kind: "code" }, then: "deny" },
    ]
    expect(lane(rules, toolProposal())).toBe("allow")
    expect(lane(rules, toolProposal({ agent: "intern" }))).toBe("allow")
    expect(lane(rules, toolProposal({ risk: "high" }))).toBe("ask")
    expect(lane(rules, toolProposal({ risk: "high", agent: "intern" }))).toBe("deny")
    expect(lane(rules, codeProposal())).toBe("deny")
    expect(lane(rules, codeProposal("", { policy: DENY_ALL }))).toBe("allow")
  })

  it("allow a language only when all blocks speak it, and deny it when any does", () => {
    const allow: ApprovalRule[] = [{ when: { language: ["python", "javascript"] }, then: "allow" }]
    expect(lane(allow, blocks("python", "JavaScript"))).toBe("allow")
    expect(lane(allow, blocks("python", "sh"))).toBe("ask")
    const deny: ApprovalRule[] = [{ when: { language: "sh" }, then: "deny" }]
    expect(lane(deny, blocks("python", "SH"))).toBe("deny")
    expect(lane(deny, blocks("python"))).toBe("ask")
    expect(lane(deny, toolProposal())).toBe("ask")
  })

  it("know a language by all its names, when told", () => {
    const rules: ApprovalRule[] = [{ when: { language: "sh" }, then: "deny" }]
    const languageName = (name: string): string => {
      if (name === "klingon") throw new Error("unknown")
      return name === "shell" ? "sh" : name
    }
    const gate = new ApprovalGate({ rules, languageName })
    expect([gate.laneOf(blocks("shell")), gate.laneOf(blocks("klingon"))]).toEqual(["deny", "ask"])
  })

  it.each([
    ["fs_*", "fs_read", true],
    ["fs_*", "xfs_read", false],
    ["*_read", "fs_read", true],
    ["a*b*c", "a-b-c", true],
    ["a*b*c", "acb", false],
    ["ab*ba", "aba", false],
    ["*", "anything", true],
    ["fs.read", "fsxread", false],
  ])("match %s with %s: %s", (pattern, tool, isMatch) => {
    const rules: ApprovalRule[] = [{ when: { tool: pattern }, then: "deny" }]
    expect(lane(rules, toolProposal({ payload: { tool, arguments: {} } }))).toBe(isMatch ? "deny" : "ask")
  })

  it("do not crawl over many stars", () => {
    const rules: ApprovalRule[] = [{ when: { tool: `${"a*".repeat(200)}b` }, then: "deny" }]
    expect(lane(rules, toolProposal({ payload: { tool: "a".repeat(10_000), arguments: {} } }))).toBe("ask")
  })

  it("tell which one denied, by its place", async () => {
    const gate = new ApprovalGate({
      rules: [
        { when: { agent: "other" }, then: "allow" },
        { when: {}, then: "deny" },
      ],
      provider: () => ({ decision: "approve" }),
    })
    await expectFailure(gate.request(codeProposal()), "APPROVAL_DENIED", /Rule 2 denies it/)
  })

  it.each([
    [{ when: { tol: "x" }, then: "ask" }],
    [{ when: {}, then: "maybe" }],
    [{ when: { risk: "huge" }, then: "ask" }],
    [{ when: { tool: [] }, then: "ask" }],
    [{ then: "allow" }],
    [{ when: { wider: "yes" }, then: "ask" }],
  ])("are refused when they are not valid: %j", (rule) => {
    expect(failureOf(() => new ApprovalGate({ rules: [rule as ApprovalRule] }))).toMatch(
      /^OPTION_INVALID.*rules/,
    )
  })
})
