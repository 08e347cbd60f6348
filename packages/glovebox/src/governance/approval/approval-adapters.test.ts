import { describe, expect, it } from "vitest"
import { z } from "zod"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { SandboxPolicy } from "../../policy/index.ts"
import { StaticWorkbench, tool } from "../../tools/index.ts"
import { DENY_ALL, Person, WIDE } from "./approval-gate.test-kit.ts"
import { ApprovalGate, type GateAnswer, type GateRequest } from "./index.ts"

function gateThat(answer: (request: GateRequest) => GateAnswer): {
  gate: ApprovalGate
  asked: GateRequest[]
} {
  const asked: GateRequest[] = []
  const gate = new ApprovalGate({
    provider: (request) => {
      asked.push(request)
      return answer(request)
    },
  })
  return { gate, asked }
}

const blocks = [{ code: "print(1)", language: "python" }]
const hidden = new AbortController().signal

describe("forTools", () => {
  const remove = tool({
    name: "remove",
    description: "Removes a file",
    parameters: z.object({
      path: z.string(),
      at: z
        .string()
        .transform((text) => new Date(text))
        .optional(),
    }),
    approval: true,
    risk: "high",
    execute: ({ path, at }) => `removed ${path}${at ? ` ${at.toISOString()}` : ""}`,
  })
  const call = async (gate: ApprovalGate, args: object): Promise<string> => {
    const bench = new StaticWorkbench([remove], { approve: gate.forTools({ agent: "clerk" }) })
    const { result } = await bench.callTool("remove", args)
    return result
      .map((part) => ("content" in part && typeof part.content === "string" ? part.content : ""))
      .join("")
  }

  it("approves, denies and edits calls of a workbench", async () => {
    const { gate, asked } = gateThat(() => ({ decision: "approve" }))
    expect(await call(gate, { path: "a" })).toBe("removed a")
    expect(asked).toMatchObject([
      { kind: "tool", agent: "clerk", risk: "high", payload: { tool: "remove", arguments: { path: "a" } } },
    ])
    const edit = gateThat(() => ({ decision: "edit", payload: { tool: "remove", arguments: { path: "b" } } }))
    expect(await call(edit.gate, { path: "a" })).toBe("removed b")
    const deny = gateThat(() => ({ decision: "deny", reason: "it is mine" }))
    expect(await call(deny.gate, { path: "a" })).toMatch(/not approved.*it is mine/)
  })

  it("has the hash that the tool tells", async () => {
    const { gate, asked } = gateThat(() => ({ decision: "approve" }))
    const approve = gate.forTools({ agent: "a" })
    let told = ""
    await new StaticWorkbench([remove], {
      approve: (request) => {
        told = request.sha256
        return approve(request)
      },
    }).callTool("remove", { path: "ä" })
    expect(asked[0]?.sha256).toBe(told)
  })

  it("tells apart values that JSON has no form for", async () => {
    const { gate, asked } = gateThat(() => ({ decision: "approve" }))
    expect(await call(gate, { path: "a", at: "2026-01-01" })).toMatch(/2026-01-01T/)
    await call(gate, { path: "a", at: "2026-01-02" })
    expect(asked[0]?.payload).toMatchObject({ arguments: { at: "2026-01-01T00:00:00.000Z" } })
    expect(asked[0]?.sha256).not.toBe(asked[1]?.sha256)
  })

  it("refuses arguments that were changed while somebody looked at them", async () => {
    const args = { path: "a" }
    const { gate } = gateThat(() => {
      args.path = "b"
      return { decision: "approve" }
    })
    const approve = gate.forTools({ agent: "a" })
    const request = {
      tool: "t",
      risk: "low",
      arguments: args,
      sha256: "",
      callId: "1",
      signal: hidden,
    } as const
    expect(await approve(request)).toMatchObject({
      approved: false,
      reason: expect.stringMatching(/another/),
    })
  })

  it("lets a request that waits pass through", async () => {
    const gate = new ApprovalGate({ suspend: true })
    await expectFailure(call(gate, { path: "a" }), "APPROVAL_PENDING")
  })
})

describe("forCode", () => {
  const request = { agent: "coder", codeBlocks: blocks, retryAttempt: 1, policy: WIDE, signal: hidden }

  it("approves, denies and edits", async () => {
    const { gate, asked } = gateThat(() => ({ decision: "approve" }))
    expect(await gate.forCode()(request)).toEqual({ approved: true })
    expect(asked).toMatchObject([
      { agent: "coder", policySha256: WIDE.sha256, payload: { codeBlocks: blocks } },
    ])
    expect(asked[0]?.context).toEqual(["code of this turn has failed 1 times before"])
    const codeBlocks = [{ code: "print(2)", language: "python" }]
    const edit = gateThat(() => ({ decision: "edit", payload: { codeBlocks } }))
    expect(await edit.gate.forCode()(request)).toEqual({ approved: true, codeBlocks })
    const deny = gateThat(() => ({ decision: "deny", reason: "no" }))
    expect(await deny.gate.forCode()(request)).toEqual({ approved: false, reason: "no" })
  })

  it("does not ask inside deny-all", async () => {
    const person = new Person()
    const gate = new ApprovalGate({ provider: person })
    expect(await gate.forCode({ agent: "other" })({ ...request, policy: DENY_ALL })).toEqual({
      approved: true,
    })
    expect(person.asked).toEqual([])
  })

  it("rejects with the reason of an abort", async () => {
    const gate = new ApprovalGate({ provider: new Person() })
    const signal = AbortSignal.abort(new Error("enough"))
    await expect(gate.forCode()({ ...request, signal })).rejects.toThrow("enough")
  })
})

describe("forPolicy", () => {
  it("gives the policy that was approved, perhaps an edited one", async () => {
    const { gate, asked } = gateThat(() => ({ decision: "approve" }))
    const widen = gate.forPolicy({ agent: "operator" })
    expect((await widen(DENY_ALL, WIDE)).sha256).toBe(WIDE.sha256)
    expect(asked).toMatchObject([{ kind: "policy", risk: "high", policySha256: DENY_ALL.sha256 }])
    expect(asked[0]?.widenings).toEqual(WIDE.diff(DENY_ALL))

    const less = new SandboxPolicy({ network: { allow: ["api.example.com:443"] } })
    const edit = gateThat(({ payload }) => ({ decision: "edit", payload: { ...payload, to: less.toJSON() } }))
    expect((await edit.gate.forPolicy({ agent: "o" })(DENY_ALL, WIDE)).sha256).toBe(less.sha256)
    const other = gateThat(() => ({ decision: "edit", payload: { from: WIDE.toJSON(), to: WIDE.toJSON() } }))
    const asking = other.gate.forPolicy({ agent: "o" })(DENY_ALL, WIDE)
    await expectFailure(asking, "APPROVAL_DENIED", /cannot change from/)
  })

  it("does not ask for a narrower one, and refuses when the policy in force is another", async () => {
    const { gate, asked } = gateThat(() => ({ decision: "approve" }))
    await gate.forPolicy({ agent: "o" })(WIDE, DENY_ALL)
    expect(asked).toEqual([])
    const widen = gate.forPolicy({ agent: "o", policy: () => WIDE })
    await expectFailure(widen(DENY_ALL, WIDE), "APPROVAL_MISMATCH")
  })
})
