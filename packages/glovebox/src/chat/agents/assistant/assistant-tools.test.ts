import { describe, expect, it } from "vitest"
import { z } from "zod"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import { gate } from "../../../core/gate.test-kit.ts"
import { GloveboxError } from "../../../core/index.ts"
import { type Tool, textContent, tool } from "../../../tools/index.ts"
import { ModelClientStreamingChunkEvent, TextMessage } from "../../messages/index.ts"
import type { TaskResult } from "../../task/index.ts"
import {
  agent,
  resultsOf,
  call,
  forever,
  openCalls,
  resultOf,
  shown,
  toolThat,
  typesOf,
  workbenchOf,
} from "./assistant.test-kit.ts"

const add = tool({
  name: "add",
  description: "Adds",
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
})

describe("AssistantAgent calls tools", () => {
  it("until the model answers in words", async () => {
    const { assistant, modelClient } = agent(
      [[call("add", { a: 1, b: 2 }, "c1")], [call("add", { a: 3, b: 3 }, "c2")], "6"],
      { tools: [add] },
    )
    const result = await assistant.run("1 + 2 + 3?")
    expect(typesOf(result.messages)).toEqual([
      "TextMessage",
      "ToolCallRequestEvent",
      "ToolCallExecutionEvent",
      "ToolCallRequestEvent",
      "ToolCallExecutionEvent",
      "TextMessage",
    ])
    expect(result.stopKind).toBe("answer")
    expect(shown(modelClient, 2)).toEqual([
      { type: "UserMessage", content: "1 + 2 + 3?", source: "user" },
      { type: "AssistantMessage", content: [call("add", { a: 1, b: 2 }, "c1")], source: "coder" },
      {
        type: "FunctionExecutionResultMessage",
        content: [{ callId: "c1", name: "add", content: "3", isError: false }],
      },
      { type: "AssistantMessage", content: [call("add", { a: 3, b: 3 }, "c2")], source: "coder" },
      {
        type: "FunctionExecutionResultMessage",
        content: [{ callId: "c2", name: "add", content: "6", isError: false }],
      },
    ])
  })

  it("at the same time, and tells results in the order of the calls", async () => {
    const { promise, open } = gate()
    const slow = toolThat("slow", async () => {
      await promise
      return "slow"
    })
    const quick = toolThat("quick", () => {
      open()
      return "quick"
    })
    const { assistant } = agent([[call("slow"), call("quick")], "ok"], { tools: [slow, quick] })
    expect(resultsOf(await assistant.run("Go")).map(({ content }) => content)).toEqual(["slow", "quick"])
  })

  it("one after another when they are not to run in parallel", async () => {
    const running: string[] = []
    const tools = ["a", "b"].map((name) =>
      toolThat(name, async () => {
        running.push(`${name} begins`)
        await Promise.resolve()
        running.push(`${name} ends`)
      }),
    )
    const { assistant } = agent([[call("a"), call("b")], "ok"], { tools, parallelToolCalls: false })
    await assistant.run("Go")
    expect(running).toEqual(["a begins", "a ends", "b begins", "b ends"])
  })

  it("each for itself: what goes wrong in one is an answer to that one", async () => {
    const broken = workbenchOf("broken", async function* () {
      yield* []
      throw new Error("no connection")
    })
    const silent = workbenchOf("silent", async function* () {
      yield* []
      return undefined as never
    })
    const failing = toolThat("failing", () => {
      throw new Error("it rains")
    })
    const { assistant, modelClient } = agent(
      [
        [
          call("add", { a: 1, b: 2 }),
          call("add", "{oops"),
          call("add", { a: "x" }),
          call("ad"),
          call("failing"),
          call("broken"),
          call("silent"),
        ],
        "ok",
      ],
      { tools: [add, failing], workbench: [broken, silent] },
    )
    const results = resultsOf(await assistant.run("Go"))
    expect(results.map(({ isError }) => isError)).toEqual([false, true, true, true, true, true, true])
    expect(results.map(({ content }) => content)).toEqual([
      "3",
      expect.stringContaining("no JSON"),
      expect.stringContaining("not valid"),
      expect.stringContaining("Did you mean add?"),
      expect.stringContaining("it rains"),
      "The tool broken failed: no connection",
      expect.stringContaining("The tool silent failed"),
    ])
    expect(openCalls(shown(modelClient, 1))).toEqual([])
  })

  it("that are listed anew for each request", async () => {
    const names = ["morning", "evening"]
    const clock = workbenchOf(
      "evening",
      async function* () {
        yield* []
        return resultOf("evening", "seen")
      },
      async () => [{ name: names.shift() ?? "evening" }],
    )
    const { assistant, modelClient } = agent([[call("add", { a: 1, b: 1 })], "ok"], {
      tools: [add],
      workbench: clock,
    })
    await assistant.run("Go")
    const offered = modelClient.createCalls.map(({ options }) =>
      options.tools?.map((each) => (each as Tool).name),
    )
    expect(offered).toEqual([
      ["add", "morning"],
      ["add", "evening"],
    ])
  })

  it("of one name only once", async () => {
    const twin = workbenchOf("add", async function* () {
      yield* []
      return resultOf("add", "")
    })
    const { assistant } = agent(["ok"], { tools: [add], workbench: [twin] })
    await expectFailure(assistant.run("Go"), "TOOL_INVALID", /two tools that are called add/)
    const other = agent(["ok"], { handoffs: [{ target: "user", name: "add" }], workbench: [twin] })
    await expectFailure(other.assistant.run("Go"), "TOOL_INVALID", /two tools that are called add/)
  })

  it("and shows what they tell meanwhile, also of agents behind them", async () => {
    const inner = TextMessage({
      content: "I looked.",
      source: "inner",
      modelsUsage: { promptTokens: 5, completionTokens: 2 },
    })
    const piece = ModelClientStreamingChunkEvent({ content: "I", source: "inner" })
    const team = workbenchOf("team", async function* () {
      for (const message of [piece, inner]) {
        yield { type: "ToolChunk", name: "team", content: textContent(""), message }
      }
      const result = resultOf("team", "done")
      yield result
      return result
    })
    const printing = toolThat("print", async function* () {
      yield "line 1"
      return "printed"
    })
    const script = [[call("print", {}, "p"), call("team", {}, "t")], "ok"]
    const { assistant } = agent(script, { tools: [printing], workbench: team })
    const items = []
    for await (const item of assistant.runStream("Go")) items.push(item)
    expect(items).toContainEqual(
      expect.objectContaining({ type: "ToolOutputEvent", callId: "p", name: "print", content: "line 1" }),
    )
    expect(items).toContain(piece)
    const result = items.at(-1) as TaskResult
    expect(result.messages).toContain(inner)
    expect(typesOf(result.messages)).not.toContain("ToolOutputEvent")
    expect(result.messages).not.toContain(piece)
    expect(result.usage.completionTokens).toBeGreaterThan(2)
  })
})

describe("AssistantAgent fails", () => {
  it("when a tool's error is fatal, and can go on with a whole conversation", async () => {
    const bomb = tool({
      name: "bomb",
      description: "Fails",
      errors: "fatal",
      execute: () => {
        throw new Error("boom")
      },
    })
    let aborted: AbortSignal | undefined
    const waiting = toolThat("waiting", (signal) => {
      aborted = signal
      return forever()
    })
    const { assistant, modelClient } = agent(
      [[call("waiting"), call("bomb"), call("add", { a: 1, b: 1 })], "ok"],
      {
        tools: [bomb, waiting, add],
      },
    )
    const task = TextMessage({ content: "Go", source: "user" })
    const { signal } = new AbortController()
    await expectFailure(assistant.onMessages([task], { signal }), "TOOL_FAILED", /boom/)
    expect(aborted?.aborted).toBe(true)
    await assistant.run("On")
    expect(openCalls(shown(modelClient, 1))).toEqual([])
    expect(JSON.stringify(shown(modelClient, 1))).toContain("boom")
  })

  it("when nobody can give an approval, and asks whoever can", async () => {
    const approvable = tool({ name: "pay", description: "Pays", approval: true, execute: () => "paid" })
    const refused = agent([[call("pay")]], { tools: [approvable] })
    await expectFailure(refused.assistant.run("Pay"), "TOOL_APPROVAL_REQUIRED")
    const asked = agent([[call("pay"), call("pay")], "ok"], {
      tools: [approvable],
      approve: ({ tool: name, callId }) => ({
        approved: name === "pay" && callId?.startsWith("call-") === true,
      }),
    })
    expect(resultsOf(await asked.assistant.run("Pay")).map(({ content }) => content)).toEqual([
      "paid",
      "paid",
    ])
  })

  it("when a workbench cannot be listed, and takes the message once", async () => {
    let isDown = true
    const flaky = workbenchOf(
      "flaky",
      async function* () {
        yield* []
        return resultOf("flaky", "")
      },
      async () => {
        if (isDown) throw new GloveboxError("MCP_SERVER_FAILED", "down")
        return []
      },
    )
    const { assistant, modelClient } = agent(["ok"], { workbench: flaky })
    const task = TextMessage({ content: "Go", source: "user" })
    await expectFailure(assistant.run(task), "MCP_SERVER_FAILED")
    isDown = false
    await assistant.run(task)
    expect(shown(modelClient, 0)).toHaveLength(1)
  })
})
