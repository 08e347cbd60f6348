import { describe, expect, it } from "vitest"
import { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import {
  type Approve,
  type Tool,
  type ToolRisk,
  type Workbench,
  staticWorkbench,
  textContent,
  tool,
  toolResultText,
} from "../../tools/index.ts"
import type { ApprovalGateOptions, ApprovalRule } from "../index.ts"
import { GovernedPlace } from "../governance.test-kit.ts"
import { Governance } from "../governance.ts"
import { MemorySink } from "./telling-executor.test-kit.ts"

const deny: ApprovalRule = { when: { tool: "wipe" }, then: "deny" }

/** A tool that wants no approval, and what it was called with. */
function wipeTool({ risk = "low", approval = false }: { risk?: ToolRisk; approval?: boolean } = {}): {
  readonly wipe: Tool
  readonly wiped: unknown[]
} {
  const wiped: unknown[] = []
  const wipe = tool({
    name: "wipe",
    description: "Wipes",
    parameters: z.object({ disk: z.string(), force: z.boolean().default(false) }),
    risk,
    approval,
    execute: (args) => {
      wiped.push(args)
      return "wiped"
    },
  })
  return { wipe, wiped }
}

/** The same tool as somebody's own, which looks at nothing but its arguments. */
function unguarded(plain: Tool): Tool {
  return { ...plain, stream: (args) => plain.stream(args) }
}

const toolCalls = (told: readonly string[]): string[] => told.filter((line) => line.startsWith("tool-call"))

describe("a call of a tool behind governance", () => {
  it.each([
    ["a rule denies", { risk: "low", rules: [deny] }],
    ["nobody is there to ask for a rule", { risk: "low", rules: [{ ...deny, then: "ask" }] }],
    ["nobody is there to ask for its risk", { risk: "high", rules: [] }],
  ] as const)("is not made where %s, though the tool asks for nothing", async (_, { risk, rules }) => {
    await using place = await GovernedPlace.make({ approval: { rules } })
    const { wipe, wiped } = wipeTool({ risk })
    for (const each of [wipe, unguarded(wipe)].slice(0, risk === "high" ? 1 : 2)) {
      const workbench = place.governance.agent("clerk").workbench(staticWorkbench([each]))
      const result = await workbench.callTool("wipe", { disk: "a" })
      expect([result.isError, toolResultText(result)]).toEqual([true, expect.stringMatching(/not approved/)])
    }
    expect(wiped).toEqual([])
    expect(await place.told()).toContain("approval decision")
    expect(new Set(toolCalls(await place.told()))).toEqual(new Set(["tool-call failed"]))
  })

  it("is not made where a rule denies it, whatever a function of the user says", async () => {
    const governance = new Governance({ audit: false, approval: { rules: [deny] } })
    const { wipe, wiped } = wipeTool({ approval: true })
    const approve: Approve = () => ({ approved: true })
    const workbench = governance.agent("clerk").workbench(staticWorkbench([wipe]))
    expect(await workbench.callTool("wipe", { disk: "a" }, { approve })).toMatchObject({ isError: true })
    expect(wiped).toEqual([])
  })

  it("has in its records what a function of the user says, whoever calls it", async () => {
    await using place = await GovernedPlace.make({ approval: false })
    const { wipe, wiped } = wipeTool({ approval: true })
    const answers = [{ approved: true }, { approved: false, reason: "not today" }] as const
    const workbench = place.governance.agent("clerk").workbench(staticWorkbench([wipe]))
    for (const answer of answers) await workbench.callTool("wipe", { disk: "a" }, { approve: () => answer })
    expect(wiped).toHaveLength(1)
    const decided = (await place.records()).filter(({ data }) => data["phase"] === "decision")
    expect(decided.map(({ data }) => [data["decision"], data["by"], data["reason"]])).toEqual([
      ["approved", "approve of clerk", undefined],
      ["denied", "approve of clerk", "not today"],
    ])
  })

  it("has the hash in its records that was approved, with what the schema adds", async () => {
    const approval: ApprovalGateOptions = { provider: () => ({ decision: "approve" }) }
    await using place = await GovernedPlace.make({ approval, content: { arguments: true } })
    const { wipe } = wipeTool({ approval: true })
    await place.governance
      .agent("clerk")
      .workbench(staticWorkbench([wipe]))
      .callTool("wipe", { disk: "a" })
    const [, decision, intent] = await place.records()
    expect(intent?.data).toMatchObject({
      phase: "intent",
      risk: "low",
      arguments: { disk: "a", force: false },
      argumentsSha256: decision?.data["sha256"],
    })
  })

  it("is announced when it is about to be made, and not while it waits", async () => {
    await using place = await GovernedPlace.make({ approval: { suspend: true } })
    const { wipe, wiped } = wipeTool({ approval: true })
    const workbench = place.governance.agent("clerk").workbench(staticWorkbench([wipe]))
    const call = async (): Promise<unknown> => workbench.callTool("wipe", { disk: "a" })
    await expect(call()).rejects.toMatchObject({ code: "APPROVAL_PENDING" })
    expect(await place.told()).toEqual(["approval request"])
    const { gate } = place.governance
    for (const { id } of gate?.pending() ?? []) gate?.answer(id, { decision: "approve" })
    await call()
    expect(wiped).toHaveLength(1)
    expect(toolCalls(await place.told())).toEqual(["tool-call intent", "tool-call done"])
  })

  it("has one record where nothing was done: wrong arguments, a tool that is not there", async () => {
    await using place = await GovernedPlace.make()
    const workbench = place.governance.agent("clerk").workbench(staticWorkbench([wipeTool().wipe]))
    await workbench.callTool("wipe", { disk: 7 })
    await workbench.callTool("none")
    expect(await place.told()).toEqual(["tool-call failed", "tool-call failed"])
    expect((await place.records())[0]?.data["error"]).toMatch(/arguments of wipe are not valid/)
  })

  it.each(["a tool", "a workbench"])("is announced before %s of somebody's own does it", async (whose) => {
    const sink = new MemorySink()
    const governor = new Governance({ audit: sink }).agent("clerk")
    const seen: string[][] = []
    const { wipe } = wipeTool()
    const own: Tool = {
      ...wipe,
      async *stream() {
        seen.push(sink.told)
        const result = {
          type: "ToolResult",
          name: "wipe",
          result: [textContent("ok")],
          isError: false,
        } as const
        yield result
        return result
      },
    }
    const plain = staticWorkbench([own])
    const workbench: Workbench =
      whose === "a tool"
        ? plain
        : Object.assign(Object.create(plain) as Workbench, {
            guardsCall: undefined,
            callToolStream: () => own.stream({}),
          })
    await governor.workbench(workbench).callTool("wipe", { disk: "a" })
    expect(seen).toEqual([["tool-call intent"]])
    expect(sink.told).toEqual(["tool-call intent", "tool-call done"])
  })

  it("is made with what was approved, whoever changes the arguments meanwhile", async () => {
    const given = { disk: "a", force: false }
    const governance = new Governance({
      audit: new MemorySink(() => {
        given.disk = "all"
      }),
      approval: { provider: () => ({ decision: "approve" }) },
    })
    const seen: unknown[] = []
    const raw = tool({
      name: "raw",
      description: "Takes its arguments as they are",
      parameters: { type: "object", properties: { disk: { type: "string" } } },
      approval: true,
      execute: (args) => seen.push({ ...args }),
    })
    const workbench = governance.agent("clerk").workbench(staticWorkbench([raw]))
    await workbench.callTool("raw", given)
    expect(seen).toEqual([{ disk: "a", force: false }])
    const approve: Approve = (request) => {
      Object.assign(request.arguments as object, { disk: "other" })
      return { approved: true }
    }
    const changed = await workbench.callTool("raw", { disk: "a" }, { approve })
    expect(toolResultText(changed)).toMatch(/changed while somebody was asked/)
    expect(seen).toHaveLength(1)
  })

  it("is not told to a model where what it did could not be recorded", async () => {
    const governance = new Governance({ audit: false })
    const lost = tool({
      name: "lost",
      description: "Runs code whose record is lost",
      execute: () => {
        throw new GloveboxError("AUDIT_OUTCOME_LOST", "lost")
      },
    })
    const workbench = governance.agent("clerk").workbench(staticWorkbench([lost]))
    await expect(workbench.callTool("lost")).rejects.toMatchObject({ code: "AUDIT_OUTCOME_LOST" })
  })

  it("has failed where a workbench of somebody's own ends without a result", async () => {
    const sink = new MemorySink()
    const governor = new Governance({ audit: sink }).agent("clerk")
    const own = Object.assign(Object.create(staticWorkbench([])) as Workbench, {
      guardsCall: undefined,
      async *callToolStream() {
        yield { type: "ToolChunk", name: "wipe", content: textContent("begun") }
      },
    })
    await expect(governor.workbench(own).callTool("wipe")).rejects.toMatchObject({ code: "TOOL_FAILED" })
    expect(sink.told).toEqual(["tool-call intent", "tool-call failed"])
  })
})
