import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { SandboxPolicy } from "../../policy/index.ts"
import { DENY_ALL, Person, WIDE, codeProposal } from "./approval-gate.test-kit.ts"
import {
  ApprovalError,
  ApprovalGate,
  type ApprovalRecord,
  type GateAnswer,
  type GateRequest,
} from "./index.ts"

const yes = (): GateAnswer => ({ decision: "approve", by: "ann" })
const HOUR = 3_600_000

describe("ApprovalGate.request", () => {
  it("tells whoever is asked all there is to know, frozen", async () => {
    const asked: GateRequest[] = []
    const gate = new ApprovalGate({
      provider: (request) => {
        asked.push(request)
        return yes()
      },
      clock: () => 1000,
    })
    await gate.request(codeProposal("print(1)", { risk: "high", context: ["why", "x".repeat(1200)] }))
    const [request] = asked
    expect(request).toMatchObject({
      kind: "code",
      agent: "coder",
      risk: "high",
      payload: { codeBlocks: [{ code: "print(1)", language: "python" }] },
      policySha256: WIDE.sha256,
      widenings: WIDE.widenings(),
      created: 1000,
      expires: 1000 + HOUR,
    })
    expect(request?.sha256).toMatch(/^[0-9a-f]{64}$/)
    expect(request?.context[1]).toMatch(/x … \(200 characters more\)$/)
    expect(Object.isFrozen(request)).toBe(true)
    expect(Object.isFrozen(request?.payload)).toBe(true)
    expect(JSON.parse(JSON.stringify(request))).toEqual(request)
  })

  it("denies with the reason that was given", async () => {
    const gate = new ApprovalGate({ provider: () => ({ decision: "deny", reason: "too risky" }) })
    const error = await expectFailure(gate.request(codeProposal()), "APPROVAL_DENIED", /too risky/)
    expect(error).toBeInstanceOf(ApprovalError)
    expect(error).toMatchObject({ reason: "too risky", requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) })
  })

  it("denies when there is nobody to ask", async () => {
    await expectFailure(new ApprovalGate().request(codeProposal()), "APPROVAL_DENIED", /nobody to ask/)
  })

  it("denies when the provider throws, and keeps the cause", async () => {
    const broken = new Error("no network")
    const provider = (): never => {
      throw broken
    }
    const error = await expectFailure(
      new ApprovalGate({ provider }).request(codeProposal()),
      "APPROVAL_DENIED",
      /could not be asked for: no network/,
    )
    expect(error.cause).toBe(broken)
  })

  it("denies when nobody answers in time, and ends the question", async () => {
    let given: AbortSignal | undefined
    const gate = new ApprovalGate({
      expiresIn: 5,
      provider: (_request, { signal }) => {
        given = signal
        return new Promise(() => {})
      },
    })
    const error = await expectFailure(gate.request(codeProposal()), "APPROVAL_DENIED", /within 5ms/)
    expect(error.cause).toMatchObject({ code: "APPROVAL_EXPIRED" })
    expect(given?.aborted).toBe(true)
    expect(gate.pending()).toEqual([])
  })

  it.each([
    undefined,
    null,
    true,
    "yes",
    {},
    { approved: true },
    { decision: "APPROVE" },
    { decision: "approve", extra: 1 },
    { decision: "approve", sha256: "0".repeat(64) },
    { decision: "edit" },
    { decision: "edit", payload: { codeBlocks: [] } },
    { decision: "edit", payload: { tool: "other", arguments: {} } },
    { decision: "edit", payload: { codeBlocks: [{ code: 1, language: "python" }] } },
  ])("denies when the answer is rubbish: %j", async (answer) => {
    const gate = new ApprovalGate({ provider: () => answer as GateAnswer })
    await expectFailure(gate.request(codeProposal()), "APPROVAL_DENIED", /not valid/)
  })

  it("rejects with the signal's reason, and withdraws the request", async () => {
    const person = new Person()
    const records: ApprovalRecord[] = []
    const gate = new ApprovalGate({ provider: person, onDecision: (record) => void records.push(record) })
    const controller = new AbortController()
    const asked = gate.request(codeProposal(), { signal: controller.signal })
    await person.waitFor(1)
    expect(gate.pending()).toHaveLength(1)
    controller.abort(new Error("enough"))
    await expect(asked).rejects.toThrow("enough")
    expect(gate.pending()).toEqual([])
    expect(person.withdrawn).toEqual([person.asked[0]?.id])
    expect(records.map(({ decision }) => decision)).toEqual(["withdrawn"])
    await expect(gate.request(codeProposal(), { signal: controller.signal })).rejects.toThrow("enough")
    expect(person.asked).toHaveLength(1)
  })

  it("refuses what is no proposal", async () => {
    const gate = new ApprovalGate({ provider: yes })
    const wrong = { kind: "tool", payload: { tool: "t", arguments: new Date() }, agent: "a" } as never
    await expectFailure(gate.request(wrong), "OPTION_INVALID", /JSON cannot hold/)
    await expectFailure(
      gate.request({ ...codeProposal(), polcy: WIDE } as never),
      "OPTION_INVALID",
      /policy\?/,
    )
    await expectFailure(gate.request(codeProposal("", { expiresIn: "never" })), "OPTION_INVALID", /expiresIn/)
  })

  it("asks for each of two that are the same at a time", async () => {
    const person = new Person()
    const gate = new ApprovalGate({ provider: person })
    const both = [gate.request(codeProposal()), gate.request(codeProposal())]
    await person.waitFor(2)
    person.say(0, { decision: "approve" })
    person.say(1, { decision: "deny" })
    const [first, second] = await Promise.allSettled(both)
    expect([first?.status, second?.status]).toEqual(["fulfilled", "rejected"])
  })
})

describe("ApprovalGate.saveState", () => {
  it("does not hang on a provider that cannot be looked at", async () => {
    const provider = { name: "p", ask: () => new Promise(() => {}), peek: () => new Promise(() => {}) }
    const gate = new ApprovalGate({ provider })
    const controller = new AbortController()
    const asked = gate.request(codeProposal(), { signal: controller.signal }).catch((error: unknown) => error)
    const saved = gate.saveState({ signal: controller.signal })
    const enough = new Error("enough")
    controller.abort(enough)
    await expect(saved).rejects.toThrow("enough")
    expect(await asked).toBe(enough)
  })
})

describe("ApprovalGate.answer", () => {
  it("answers beside the provider, once", async () => {
    const person = new Person()
    const gate = new ApprovalGate({ provider: person })
    const asked = gate.request(codeProposal())
    await person.waitFor(1)
    const id = gate.pending()[0]?.id ?? ""
    gate.answer(id, { decision: "approve", by: "bob" })
    const late = failureOf(() => gate.answer(id, { decision: "deny" }))
    const grant = await asked
    expect(late).toMatch(/^APPROVAL_ANSWERED/)
    expect(grant.by).toBe("bob")
    await grant.use(grant.payload)
    expect(failureOf(() => gate.answer(id, { decision: "approve" }))).toMatch(/^APPROVAL_USED/)
    expect(failureOf(() => gate.answer("x", { decision: "approve" }))).toMatch(/^APPROVAL_UNKNOWN/)
  })
})

describe("ApprovalGrant.use", () => {
  const payload = codeProposal("print(1)").payload

  it.each([
    ["one byte", { codeBlocks: [{ code: "print(2)", language: "python" }] }],
    ["a space at the end", { codeBlocks: [{ code: "print(1) ", language: "python" }] }],
    ["the language", { codeBlocks: [{ code: "print(1)", language: "sh" }] }],
    ["one block more", { codeBlocks: [...payload.codeBlocks, ...payload.codeBlocks] }],
    ["a file", { codeBlocks: [{ code: "print(1)", language: "python", file: "a.py" }] }],
    ["something else", { rubbish: 1 }],
    ["nothing", undefined],
  ])("refuses what differs in %s, and still takes what was approved", async (_what, other) => {
    const grant = await new ApprovalGate({ provider: yes }).request(codeProposal("print(1)"))
    await expectFailure(grant.use(other as typeof payload), "APPROVAL_MISMATCH")
    await expect(
      grant.use({ codeBlocks: [{ language: "python", code: "print(1)" }] }),
    ).resolves.toBeUndefined()
  })

  it("is not moved by what becomes of the proposal", async () => {
    const block = { code: "print(1)", language: "python" }
    const proposal = { kind: "code", payload: { codeBlocks: [block] }, agent: "a", policy: WIDE } as const
    const grant = await new ApprovalGate({ provider: yes }).request(proposal)
    block.code = "import os"
    await expectFailure(grant.use(proposal.payload), "APPROVAL_MISMATCH")
  })

  it("is for one time, also for many at once", async () => {
    const gate = new ApprovalGate({ provider: yes })
    const grant = await gate.request(codeProposal())
    const uses = await Promise.allSettled(Array.from({ length: 50 }, () => grant.use(grant.payload)))
    expect(uses.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
    await expectFailure(grant.use(grant.payload), "APPROVAL_USED")
  })

  it("is for one time also where a rule allowed it", async () => {
    const grant = await new ApprovalGate().request(codeProposal("x", { policy: DENY_ALL }))
    await grant.use(grant.payload)
    await expectFailure(grant.use(grant.payload), "APPROVAL_USED")
  })

  it("expires, and a clock that is set back does not help", async () => {
    let now = 0
    const gate = new ApprovalGate({ provider: yes, expiresIn: "1m", clock: () => now })
    const grant = await gate.request(codeProposal())
    now = 60_000
    await expectFailure(grant.use(grant.payload), "APPROVAL_EXPIRED")
    now = 0
    await expectFailure(grant.use(grant.payload), "APPROVAL_EXPIRED")
  })

  it("refuses another policy than it was approved under", async () => {
    let policy: SandboxPolicy | undefined = WIDE
    const gate = new ApprovalGate({ provider: yes })
    const grant = await gate.request(codeProposal("x", { policy: () => policy }))
    policy = new SandboxPolicy({ network: { allow: ["example.com:443", "evil.example:443"] } })
    await expectFailure(grant.use(grant.payload), "APPROVAL_MISMATCH", /policy/)
    policy = undefined
    await expectFailure(grant.use(grant.payload), "APPROVAL_MISMATCH", /policy/)
    policy = new SandboxPolicy({ network: { allow: ["example.com:443"] } })
    await expect(grant.use(grant.payload)).resolves.toBeUndefined()
  })

  it("is spent when it is aborted while it is marked", async () => {
    const provider = {
      name: "p",
      ask: () => Promise.resolve(yes()),
      claim: () => new Promise<boolean>(() => {}),
    }
    const grant = await new ApprovalGate({ provider }).request(codeProposal())
    const controller = new AbortController()
    const used = grant.use(grant.payload, { signal: controller.signal })
    controller.abort(new Error("enough"))
    await expect(used).rejects.toThrow("enough")
    await expectFailure(grant.use(grant.payload), "APPROVAL_USED")
  })

  it("is spent when it cannot be marked as used", async () => {
    const provider = {
      name: "p",
      ask: () => Promise.resolve(yes()),
      claim: () => Promise.reject(new Error("disk full")),
    }
    const grant = await new ApprovalGate({ provider }).request(codeProposal())
    await expectFailure(grant.use(grant.payload), "APPROVAL_DENIED", /disk full/)
    await expectFailure(grant.use(grant.payload), "APPROVAL_USED")
  })
})

describe("an edit", () => {
  it("cannot become what a rule denies", async () => {
    const sh = { codeBlocks: [{ code: "id", language: "sh" }] }
    const records: ApprovalRecord[] = []
    const gate = new ApprovalGate({
      provider: () => ({ decision: "edit", payload: sh, by: "ann" }),
      rules: [{ when: { language: "sh" }, then: "deny" }],
      onDecision: (record) => void records.push(record),
    })
    await expect(gate.request(codeProposal())).rejects.toMatchObject({
      code: "APPROVAL_DENIED",
      message: expect.stringContaining("Rule 1 denies what it was changed to"),
    })
    expect(records).toMatchObject([{ decision: "denied", by: "ann" }])
  })

  it("is what may run and what is recorded, and the first text is not", async () => {
    const records: ApprovalRecord[] = []
    const edited = { codeBlocks: [{ code: "print(2)", language: "python" }] }
    const gate = new ApprovalGate({
      provider: () => ({ decision: "edit", payload: edited, by: "ann" }),
      onDecision: (record) => void records.push(record),
    })
    const grant = await gate.request(codeProposal("print(1)"))
    expect(grant.isEdited).toBe(true)
    expect(grant.payload).toEqual(edited)
    expect(grant.sha256).not.toBe(grant.request.sha256)
    expect(records).toMatchObject([{ decision: "edited", sha256: grant.sha256, edited, by: "ann" }])
    await expectFailure(grant.use(codeProposal("print(1)").payload), "APPROVAL_MISMATCH")
    await expect(grant.use(edited)).resolves.toBeUndefined()
  })

  it("that changes nothing is an approval", async () => {
    const gate = new ApprovalGate({ provider: ({ payload }) => ({ decision: "edit", payload }) })
    expect((await gate.request(codeProposal())).isEdited).toBe(false)
  })

  it("cannot make another tool of it", async () => {
    const gate = new ApprovalGate({
      provider: () => ({ decision: "edit", payload: { tool: "format_disk", arguments: {} } }),
    })
    const asked = gate.request({ kind: "tool", payload: { tool: "list", arguments: {} }, agent: "a" })
    await expectFailure(asked, "APPROVAL_DENIED", /cannot change tool/)
  })
})

describe("onDecision", () => {
  it("is awaited before the grant is given, and says what it was based on", async () => {
    const steps: string[] = []
    const gate = new ApprovalGate({
      provider: yes,
      onDecision: async ({ decision, basis, by, request, sha256 }) => {
        await new Promise((resolve) => setImmediate(resolve))
        expect(sha256).toBe(request.sha256)
        steps.push(`${decision} ${JSON.stringify(basis)} ${by}`)
      },
    })
    await gate.request(codeProposal())
    steps.push("granted")
    await gate.request(codeProposal("x", { policy: DENY_ALL }))
    expect(steps).toEqual([
      'approved {"by":"provider","provider":"function"} ann',
      "granted",
      'approved {"by":"default","rule":0} undefined',
    ])
  })

  it("denies when it throws, for rules too, and nothing is left", async () => {
    const full = new Error("disk full")
    const gate = new ApprovalGate({ provider: yes, onDecision: () => Promise.reject(full) })
    for (const policy of [WIDE, DENY_ALL]) {
      const asked = gate.request(codeProposal("x", { policy }))
      const error = await expectFailure(asked, "APPROVAL_DENIED", /could not be recorded: disk full/)
      expect(error.cause).toBe(full)
    }
    expect((await gate.saveState()).requests).toEqual([])
  })

  it("leaves a denial a denial", async () => {
    const gate = new ApprovalGate({
      provider: () => ({ decision: "deny", reason: "no" }),
      onDecision: () => Promise.reject(new Error("disk full")),
    })
    const error = await expectFailure(gate.request(codeProposal()), "APPROVAL_DENIED", /: no$/)
    expect(error.cause).toMatchObject({ message: "disk full" })
  })

  it("cannot hold up an abort", async () => {
    const controller = new AbortController()
    const gate = new ApprovalGate({
      provider: yes,
      onDecision: () => {
        controller.abort(new Error("enough"))
        return new Promise(() => {})
      },
    })
    await expect(gate.request(codeProposal(), { signal: controller.signal })).rejects.toThrow("enough")
  })
})
