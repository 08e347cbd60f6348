import { describe, expect, it } from "vitest"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import { type ApprovalGate, ApprovalError, type GateAnswer, Governance } from "../../../governance/index.ts"
import { ReplayChatCompletionClient, type ReplayResponse } from "../../../models/replay/index.ts"
import { type Office, approve, moveTo } from "../../clerk.test-kit.ts"
import { type ChatItem, TextMessage } from "../../messages/index.ts"
import { RoundRobinGroupChat } from "../../teams/index.ts"
import { type TaskResult, answerText } from "../../task/index.ts"
import { type FakeRun, WideExecutor, failing, python } from "./fake-executor.test-kit.ts"
import { type ApproveCode, CodeExecutorAgent, type CodeExecutorAgentOptions } from "./index.ts"

const { signal } = new AbortController()

interface Place extends Office<CodeExecutorAgent> {
  readonly executor: WideExecutor
  readonly model: ReplayChatCompletionClient | undefined
}

/** An agent with a gate that does not wait, as one process has it; without answers it has no model. */
function place(
  { answers, runs = ["1\n"] }: { answers?: readonly ReplayResponse[]; runs?: readonly FakeRun[] },
  options: Partial<CodeExecutorAgentOptions> = {},
): Place {
  const governance = new Governance({ audit: false, approval: { suspend: true } })
  const executor = new WideExecutor(...runs)
  const model = answers && new ReplayChatCompletionClient(answers)
  const runner = new CodeExecutorAgent({
    name: "coder",
    codeExecutor: executor,
    modelClient: model,
    governance,
    ...options,
  })
  return { gate: governance.gate as ApprovalGate, runner, executor, model }
}

function decide(gate: ApprovalGate, { pending: [id = ""] = [] }: TaskResult, answer: GateAnswer): void {
  gate.answer(id, answer)
}

function typesOf({ messages }: Pick<TaskResult, "messages">): string[] {
  return messages.map(({ type }: ChatItem) => type)
}

const EDIT = {
  decision: "edit",
  payload: { codeBlocks: [{ code: "print(2)", language: "python" }] },
} as const

describe("a CodeExecutorAgent with a model, whose code waits for an approval", () => {
  const answers = [python("print(1)"), "One."]

  it("is suspended with the code told, and goes on without asking its model again", async () => {
    const { gate, runner, executor, model } = place({ answers })
    const first = await runner.run("Go.")
    expect(first).toMatchObject({ stopKind: "suspended", usage: model?.totalUsage() })
    expect(typesOf(first)).toEqual(["TextMessage", "CodeGenerationEvent"])
    const again = await runner.run()
    expect([again.pending, again.messages, gate.pending()]).toMatchObject([
      first.pending,
      [],
      [{ kind: "code" }],
    ])
    expect([executor.ran, model?.createCalls.length]).toEqual([[], 1])
    approve(gate, first)
    const last = await runner.run()
    expect(typesOf(last)).toEqual(["CodeExecutionEvent", "TextMessage"])
    expect([answerText(last), executor.ran.length, model?.createCalls.length]).toEqual(["One.", 1, 2])
    expect(first.usage.promptTokens + last.usage.promptTokens).toBe(model?.totalUsage().promptTokens)
  })

  it("goes on in another process, from JSON, and runs once", async () => {
    const here = place({ answers })
    const first = await here.runner.run("Go.")
    const there = place({ answers: ["One."] })
    await moveTo(here, there)
    approve(there.gate, first)
    expect(answerText(await there.runner.run())).toBe("One.")
    expect([here.executor.ran, there.executor.ran]).toEqual([
      [],
      [[{ code: "print(1)", language: "python" }]],
    ])
    const told = there.model?.createCalls[0]?.messages.map(({ type }) => type)
    expect(told?.slice(1)).toEqual(["UserMessage", "AssistantMessage", "UserMessage", "UserMessage"])
    // What was used is used: an older state asks anew.
    const late = place({ answers: [] })
    await moveTo(here, late)
    late.gate.loadState(await there.gate.saveState())
    const asked = await late.runner.run()
    expect(asked.stopKind).toBe("suspended")
    expect(asked.pending).not.toEqual(first.pending)
  })

  it("ends the turn when it is denied, and runs what was edited", async () => {
    const denied = place({ answers })
    decide(denied.gate, await denied.runner.run("Go."), { decision: "deny", reason: "No." })
    const last = await denied.runner.run()
    expect(last.messages.at(-1)).toMatchObject({ metadata: { approval: "denied" } })
    expect([denied.executor.ran, denied.model?.createCalls.length]).toEqual([[], 1])
    const edited = place({ answers, runs: ["2\n"] })
    decide(edited.gate, await edited.runner.run("Go."), EDIT)
    expect(typesOf(await edited.runner.run())).toEqual([
      "CodeGenerationEvent",
      "CodeExecutionEvent",
      "TextMessage",
    ])
    expect(edited.executor.ran).toEqual([EDIT.payload.codeBlocks])
  })

  it("counts attempts on, also over a wait", async () => {
    const runs = [failing("no"), "1\n"]
    const here = place({ answers: [python("a"), python("b"), "Done."], runs }, { maxRetriesOnError: 1 })
    approve(here.gate, await here.runner.run("Go."))
    const second = await here.runner.run()
    expect(second).toMatchObject({ stopKind: "suspended" })
    approve(here.gate, second)
    const last = await here.runner.run()
    expect(last.messages[0]).toMatchObject({ type: "CodeExecutionEvent", retryAttempt: 1 })
    expect([answerText(last), here.executor.ran.length]).toEqual(["Done.", 2])
  })

  it("takes what a team gives again once, and new words beside the code", async () => {
    const { gate, runner, model } = place({ answers })
    const task = TextMessage({ content: "Go.", source: "user" })
    await expectFailure(runner.onMessages([task], { signal }), "APPROVAL_PENDING")
    approve(gate, { pending: gate.pending().map(({ id }) => id) })
    await runner.onMessages([task, TextMessage({ content: "Hurry.", source: "user" })], {
      signal,
      isRetry: true,
    })
    const words = model?.createCalls[1]?.messages.map(({ content }) => content)
    expect(words?.filter((word) => word === "Go.")).toHaveLength(1)
    expect(words).toContain("Hurry.")
  })

  it("forgets the code with a reset", async () => {
    const { runner, executor } = place({ answers })
    await runner.run("Go.")
    expect(await runner.saveState()).toMatchObject({
      suspended: { codeBlocks: [{ code: "print(1)" }], retryAttempt: 0 },
    })
    await runner.onReset({ signal })
    expect(await runner.saveState()).not.toHaveProperty("suspended")
    expect(answerText(await runner.run("Hi."))).toBe("One.")
    expect(executor.ran).toEqual([])
  })
})

describe("a CodeExecutorAgent without a model, whose code waits for an approval", () => {
  it("goes on with the code that it found, whether the messages come again or not", async () => {
    const { gate, runner, executor } = place({})
    const task = TextMessage({ content: python("print(1)"), source: "user" })
    const first = await runner.run([task])
    expect(typesOf(first)).toEqual(["TextMessage", "CodeGenerationEvent"])
    await expectFailure(runner.onMessages([task], { signal, isRetry: true }), "APPROVAL_PENDING")
    approve(gate, first)
    const last = await runner.run()
    expect([typesOf(last), answerText(last)]).toEqual([["CodeExecutionEvent", "TextMessage"], "1"])
    expect([executor.ran.length, await runner.saveState()]).toEqual([1, {}])
  })

  it("goes on in another process, from JSON", async () => {
    const here = place({})
    const first = await here.runner.run(python("print(1)"))
    const there = place({})
    await moveTo(here, there)
    approve(there.gate, first)
    expect(answerText(await there.runner.run())).toBe("1")
    expect(here.executor.ran).toEqual([])
  })

  it("runs no other code meanwhile, and says so", async () => {
    const { gate, runner, executor } = place({})
    approve(gate, await runner.run(python("print(1)")))
    expect(answerText(await runner.run(python("print(9)")))).toMatch(/^1\n\nThere was other code meanwhile/)
    expect(executor.ran).toEqual([[{ code: "print(1)", language: "python" }]])
    expect((await runner.run(python("print(9)"))).stopKind).toBe("suspended")
  })

  it("forgets it with a denial, and with a reset", async () => {
    const { gate, runner, executor } = place({})
    decide(gate, await runner.run(python("print(1)")), { decision: "deny", reason: "No." })
    expect(answerText(await runner.run())).toMatch(/Reason: No\./)
    await runner.run(python("print(2)"))
    await runner.onReset({ signal })
    expect([await runner.saveState(), answerText(await runner.run())]).toEqual([
      {},
      expect.stringMatching(/^There is no code to run/),
    ])
    expect(executor.ran).toEqual([])
  })

  it("refuses a state that is none", async () => {
    const { runner } = place({})
    await expectFailure(runner.loadState({ version: 1, suspended: { codeBlocks: [] } }), "STATE_INVALID")
    await expectFailure(runner.loadState({ plan: "x" }), "STATE_INVALID")
    await runner.loadState({})
  })
})

describe("code that waited for an approval", () => {
  it.each([[[python("print(1)"), "One."]], [undefined]])(
    "waits on when the run that goes on is aborted while it asks",
    async (answers) => {
      const controller = new AbortController()
      let isAsked = false
      const approveCode: ApproveCode = ({ id, codeBlocks }) => {
        if (!isAsked) {
          isAsked = true
          throw new ApprovalError("APPROVAL_PENDING", id, "It waits.")
        }
        if (controller.signal.aborted) return { approved: true, codeBlocks }
        controller.abort(new Error("enough"))
        return new Promise(() => {})
      }
      const { runner, executor, model } = place(
        { ...(answers && { answers }) },
        { approve: approveCode, governance: undefined },
      )
      await runner.run(python("print(1)"))
      await expect(runner.run(undefined, { signal: controller.signal })).rejects.toThrow("enough")
      expect(executor.ran).toEqual([])
      expect((await runner.run()).stopKind).toBe("answer")
      expect([executor.ran.length, model?.createCalls.length]).toEqual([1, answers?.length])
    },
  )

  it("is not run by an agent that asks nobody", async () => {
    for (const answers of [undefined, [python("print(1)")]]) {
      const here = place({ ...(answers && { answers }) })
      await here.runner.run(python("print(1)"))
      const there = place({ ...(answers && { answers }) }, { governance: undefined })
      await expectFailure(
        there.runner.loadState(await here.runner.saveState()),
        "STATE_INVALID",
        /nobody is asked/,
      )
    }
  })

  it("waits in a team, which goes on in another process without a word or a run twice", async () => {
    const answers = [python("print(1)"), "One."]
    const teamOf = (here: Place): Office<RoundRobinGroupChat> => ({
      gate: here.gate,
      runner: new RoundRobinGroupChat({ participants: [here.runner], maxTurns: 1 }),
    })
    const here = place({ answers })
    const team = teamOf(here)
    const first = await team.runner.run("Go.")
    expect([first.stopKind, typesOf(first)]).toEqual(["suspended", ["TextMessage", "CodeGenerationEvent"]])
    const there = place({ answers: answers.slice(1) })
    const other = await moveTo(team, teamOf(there))
    approve(other.gate, first)
    const last = await other.runner.run()
    expect([typesOf(last), answerText(last)]).toEqual([["CodeExecutionEvent", "TextMessage"], "One."])
    expect([here.executor.ran.length, there.executor.ran.length]).toEqual([0, 1])
    expect([here.model?.createCalls.length, there.model?.createCalls.length]).toEqual([1, 1])
  })

  it("waits the same behind an approve of one's own", async () => {
    let isThere = false
    const executor = new WideExecutor("1\n")
    const runner = new CodeExecutorAgent({
      name: "coder",
      codeExecutor: executor,
      approve: ({ id }) => {
        if (!isThere) throw new ApprovalError("APPROVAL_PENDING", id, "It waits.")
        return { approved: true }
      },
    })
    expect((await runner.run(python("print(1)"))).stopKind).toBe("suspended")
    isThere = true
    expect(answerText(await runner.run())).toBe("1")
    expect(executor.ran).toHaveLength(1)
  })

  it("waits the same behind an executor that asks itself", async () => {
    const governance = new Governance({ audit: false, approval: { suspend: true } })
    const executor = new WideExecutor("1\n")
    const codeExecutor = governance.agent("coder").executor(executor)
    const runner = new CodeExecutorAgent({ name: "coder", codeExecutor })
    const first = await runner.run(python("print(1)"))
    expect(first.stopKind).toBe("suspended")
    await runner.loadState(await runner.saveState())
    approve(governance.gate as ApprovalGate, first)
    expect(answerText(await runner.run())).toBe("1")
    expect(executor.ran).toHaveLength(1)
  })
})
