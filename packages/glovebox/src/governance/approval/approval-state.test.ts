import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { DENY_ALL, Person, WIDE, codeProposal } from "./approval-gate.test-kit.ts"
import { ApprovalError, ApprovalGate, type ApprovalGateOptions, type ApprovalGateState } from "./index.ts"

/** What another process would read. */
async function saved(gate: ApprovalGate): Promise<ApprovalGateState> {
  return JSON.parse(JSON.stringify(await gate.saveState())) as ApprovalGateState
}

function resumed(state: unknown, options: ApprovalGateOptions = {}): ApprovalGate {
  const gate = new ApprovalGate({ suspend: true, ...options })
  gate.loadState(state)
  return gate
}

async function suspendedId(asked: Promise<unknown>): Promise<string> {
  const error = await expectFailure(asked, "APPROVAL_PENDING")
  return error instanceof ApprovalError ? error.requestId : ""
}

describe("a gate that suspends", () => {
  it("does not wait, and finds the answer when the same is asked for again, in another gate too", async () => {
    const first = new ApprovalGate({ suspend: true })
    const id = await suspendedId(first.request(codeProposal()))
    expect(first.pending().map((request) => request.id)).toEqual([id])

    const second = resumed(await saved(first))
    expect(await suspendedId(second.request(codeProposal()))).toBe(id)
    second.answer(id, { decision: "approve", by: "ann" })

    const third = resumed(await saved(second))
    const grant = await third.request(codeProposal())
    expect([grant.id, grant.by]).toEqual([id, "ann"])
    await grant.use(codeProposal().payload)
  })

  it("keeps requests for a week", async () => {
    let now = 0
    const gate = new ApprovalGate({ suspend: true, clock: () => now })
    const id = await suspendedId(gate.request(codeProposal()))
    now = 7 * 24 * 3_600_000 - 1
    gate.answer(id, { decision: "approve" })
    const grant = await gate.request(codeProposal())
    expect(grant.id).toBe(id)
    now += 1
    await expectFailure(grant.use(grant.payload), "APPROVAL_EXPIRED")
  })

  it.each([
    ["another code", codeProposal("print(2)")],
    ["another agent", codeProposal("print(1)", { agent: "other" })],
    ["another policy", codeProposal("print(1)", { policy: undefined })],
    [
      "the machine itself",
      codeProposal("print(1)", {
        beyondPolicy: [{ path: "host", from: "absent", to: "everything", effect: "widens" }],
      }),
    ],
  ])("makes a new request for %s", async (_what, other) => {
    const gate = new ApprovalGate({ suspend: true })
    const id = await suspendedId(gate.request(codeProposal("print(1)")))
    gate.answer(id, { decision: "approve" })
    expect(await suspendedId(gate.request(other))).not.toBe(id)
  })

  it("tells of a denial once, and of an edit", async () => {
    const gate = new ApprovalGate({ suspend: true })
    const id = await suspendedId(gate.request(codeProposal()))
    gate.answer(id, { decision: "deny", reason: "no" })
    await expectFailure(resumed(await saved(gate)).request(codeProposal()), "APPROVAL_DENIED", /no/)
    await expectFailure(gate.request(codeProposal()), "APPROVAL_DENIED", /no/)
    const next = await suspendedId(gate.request(codeProposal()))
    expect(next).not.toBe(id)
    gate.answer(next, { decision: "edit", payload: codeProposal("print(3)").payload })
    const grant = await resumed(await saved(gate)).request(codeProposal())
    expect(grant.payload).toEqual(codeProposal("print(3)").payload)
  })

  it("asks anew once a request was used", async () => {
    const gate = new ApprovalGate({ suspend: true })
    const id = await suspendedId(gate.request(codeProposal()))
    gate.answer(id, { decision: "approve" })
    const grant = await gate.request(codeProposal())
    await grant.use(grant.payload)
    expect(await suspendedId(gate.request(codeProposal()))).not.toBe(id)
  })

  it("goes on by its rules when they have changed meanwhile", async () => {
    const gate = new ApprovalGate({ suspend: true })
    const id = await suspendedId(gate.request(codeProposal()))
    gate.answer(id, { decision: "approve" })
    const stricter = resumed(await saved(gate), { rules: [{ when: { wider: true }, then: "deny" }] })
    await expectFailure(stricter.request(codeProposal()), "APPROVAL_DENIED", /Rule 1/)
  })
})

describe("ApprovalGate.saveState", () => {
  it("has what a gate waits for, and what was approved and not used", async () => {
    const person = new Person()
    const gate = new ApprovalGate({ provider: person })
    const [granted] = [gate.request(codeProposal("a")), gate.request(codeProposal("b")).catch(() => {})]
    await person.waitFor(2)
    person.say(0, { decision: "approve", by: "ann" })
    await granted
    const state = await saved(gate)
    expect(state.requests.map(({ answer }) => answer?.decision)).toEqual(["approve", undefined])

    const after = new Person()
    const next = new ApprovalGate({ provider: after })
    next.loadState(state)
    expect((await next.request(codeProposal("a"))).by).toBe("ann")
    const asked = next.request(codeProposal("b"))
    await after.waitFor(1)
    expect(after.asked[0]?.id).toBe(person.asked[1]?.id)
    after.say(0, { decision: "approve" })
    await expect(asked).resolves.toBeDefined()
  })

  it("does not let what was used be used again by an older state", async () => {
    const gate = new ApprovalGate({ suspend: true })
    const id = await suspendedId(gate.request(codeProposal()))
    gate.answer(id, { decision: "approve" })
    const before = await saved(gate)
    const grant = await gate.request(codeProposal())
    await grant.use(grant.payload)
    gate.loadState(before)
    expect(await suspendedId(gate.request(codeProposal()))).not.toBe(id)

    const other = resumed(await saved(gate))
    other.loadState(before)
    expect(other.pending().some((request) => request.id === id)).toBe(false)
    expect(failureOf(() => other.answer(id, { decision: "approve" }))).toMatch(/^APPROVAL_USED/)
  })

  it("does not bring back what has expired", async () => {
    let now = 0
    const gate = new ApprovalGate({ suspend: true, expiresIn: "1m", clock: () => now })
    const id = await suspendedId(gate.request(codeProposal()))
    gate.answer(id, { decision: "approve" })
    const state = await saved(gate)
    now = 60_000
    const late = resumed(state, { clock: () => now })
    expect(await suspendedId(late.request(codeProposal()))).not.toBe(id)
  })

  it("says nothing of what rules allowed", async () => {
    const gate = new ApprovalGate()
    await gate.request(codeProposal("x", { policy: DENY_ALL }))
    expect((await saved(gate)).requests).toEqual([])
  })
})

describe("ApprovalGate.loadState", () => {
  type Json = Record<string, unknown>
  const change = (state: ApprovalGateState, patch: Json): unknown => ({
    ...state,
    requests: state.requests.map((one) => ({ ...one, request: { ...one.request, ...patch } })),
  })

  it.each<[string, (state: ApprovalGateState) => unknown]>([
    ["nothing", () => undefined],
    ["another version", (state) => ({ ...state, version: 2 })],
    ["another payload", (state) => change(state, { payload: codeProposal("rm -rf /").payload })],
    ["another hash", (state) => change(state, { sha256: "0".repeat(64) })],
    ["an id that is a path", (state) => change(state, { id: "../../etc/passwd" })],
    ["a field too many", (state) => change(state, { approved: true })],
    [
      "an answer that is none",
      ({ requests, ...rest }) => ({ ...rest, requests: [{ ...requests[0], answer: true }] }),
    ],
  ])("refuses %s, and takes nothing of it", async (_what, spoil) => {
    const source = new ApprovalGate({ suspend: true })
    await suspendedId(source.request(codeProposal("print(1)", { policy: WIDE })))
    const gate = new ApprovalGate({ suspend: true })
    const state = spoil(await saved(source))
    expect(failureOf(() => gate.loadState(state))).toMatch(/^STATE_INVALID/)
    expect(gate.pending()).toEqual([])
  })
})
