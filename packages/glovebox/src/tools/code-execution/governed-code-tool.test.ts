import { describe, expect, it } from "vitest"
import {
  FakeExecutor,
  HostExecutor,
  WideExecutor,
} from "../../chat/agents/code-executor/fake-executor.test-kit.ts"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import type { CodeExecutor } from "../../executors/index.ts"
import type { GovernanceOptions } from "../../governance/index.ts"
import { GovernedPlace } from "../../governance/governance.test-kit.ts"
import { StaticWorkbench, type Workbench, toolResultText } from "../index.ts"
import { codeExecutionTool } from "./index.ts"

const CODE = { code: "print(1)" }

function workbenchIn({ governance }: GovernedPlace, executor: CodeExecutor): Workbench {
  const tools = new StaticWorkbench([codeExecutionTool({ executor })], {
    overrides: { execute_code: { name: "run" } },
  })
  return governance.agent("coder").workbench(tools)
}

const asking = (provider: NonNullable<GovernanceOptions["approval"]>): GovernanceOptions => ({
  approval: provider,
})

describe("a code execution tool in a governed workbench", () => {
  it("runs its code behind the same rules: the call and the run are in the log, the policy once", async () => {
    await using place = await GovernedPlace.make()
    const workbench = workbenchIn(place, new FakeExecutor("1\n", "2\n"))
    expect(await workbench.callTool("run", CODE)).toMatchObject({
      isError: false,
      result: [{ content: "1" }],
    })
    await workbench.callTool("run", CODE)
    const leave = ["approval request", "approval decision"]
    const run = ["code-run intent", "code-run done"]
    expect((await place.told()).filter((told) => !told.startsWith("tool-call"))).toEqual([
      ...leave,
      "policy-load",
      ...run,
      ...leave,
      ...run,
    ])
    expect((await place.told()).filter((told) => told.startsWith("tool-call"))).toHaveLength(4)
  })

  it("asks for what is wider than deny-all, as code and not as a call", async () => {
    const kinds: string[] = []
    await using place = await GovernedPlace.make(
      asking({
        provider: ({ kind, agent }) => {
          kinds.push(`${agent} ${kind}`)
          return { decision: "approve" }
        },
      }),
    )
    const executor = new WideExecutor("1\n")
    expect(await workbenchIn(place, executor).callTool("run", CODE)).toMatchObject({ isError: false })
    expect([kinds, executor.ran.length]).toEqual([["coder code"], 1])
  })

  it("tells the model that code was not approved, and why, and that it is not to be tried again", async () => {
    await using place = await GovernedPlace.make(
      asking({ provider: () => ({ decision: "deny", reason: "Too wide." }) }),
    )
    const executor = new WideExecutor()
    const result = await workbenchIn(place, executor).callTool("run", CODE)
    expect([result.isError, executor.ran]).toEqual([true, []])
    expect(toolResultText(result)).toMatch(/not approved.*Do not try it again\. Reason: Too wide\./)
  })

  it("does not run code on the machine itself where there is nobody to ask", async () => {
    await using place = await GovernedPlace.make()
    const executor = new HostExecutor()
    expect(await workbenchIn(place, executor).callTool("run", CODE)).toMatchObject({ isError: true })
    expect(executor.ran).toEqual([])
  })

  it("lets out that code waits for its approval, and runs once when it is there", async () => {
    await using place = await GovernedPlace.make(asking({ suspend: true }))
    const executor = new WideExecutor("1\n")
    const workbench = workbenchIn(place, executor)
    await expectFailure(workbench.callTool("run", CODE), "APPROVAL_PENDING")
    const { gate } = place.governance
    for (const { id } of gate?.pending() ?? []) gate?.answer(id, { decision: "approve" })
    expect(await workbench.callTool("run", CODE)).toMatchObject({
      isError: false,
      result: [{ content: "1" }],
    })
    expect(executor.ran).toHaveLength(1)
  })

  it("leaves an executor that is behind the same governance as it is, and asks once", async () => {
    await using place = await GovernedPlace.make()
    const governed = place.governance.agent("owner").executor(new FakeExecutor("1\n"))
    await workbenchIn(place, governed).callTool("run", CODE)
    const runs = (await place.records()).filter(({ kind }) => kind === "code-run")
    expect(runs).toMatchObject([
      { agent: "owner", data: { phase: "intent" } },
      { agent: "owner", data: { phase: "done" } },
    ])
  })

  it("is bound by both where an executor is behind another governance", async () => {
    await using theirs = await GovernedPlace.make()
    await using place = await GovernedPlace.make(
      asking({ rules: [{ when: { language: "sh" }, then: "deny" }] }),
    )
    const inner = new FakeExecutor("1\n")
    const governed = theirs.governance.agent("owner").executor(inner)
    await workbenchIn(place, governed).callTool("run", CODE)
    for (const { told } of [{ told: await theirs.told() }, { told: await place.told() }]) {
      expect(told.filter((line) => line.startsWith("code-run"))).toEqual(["code-run intent", "code-run done"])
    }
    const mine = place.governance.agent("coder").executor(governed)
    const shell = mine.executeCodeBlocks([{ code: "id", language: "sh" }])
    await expectFailure(shell, "APPROVAL_DENIED")
    expect(inner.ran).toHaveLength(1)
  })
})
