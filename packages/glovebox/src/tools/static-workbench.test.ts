import { describe, expect, it } from "vitest"
import { z } from "zod"
import { expectFailure } from "../core/expect-failure.test-kit.ts"
import { failureOf } from "../core/failure-of.test-kit.ts"
import type { JsonValue } from "../core/index.ts"
import { executeFunctionCall, staticWorkbench, tool, toolResultText } from "./index.ts"

function counter(start = 0): ReturnType<typeof tool> {
  let count = start
  return tool({
    name: "count",
    description: "Counts up",
    parameters: z.object({ by: z.int().default(1) }),
    async *execute({ by }) {
      yield "counting"
      count += by
      return count
    },
    state: {
      save: () => ({ count }),
      load: (state: JsonValue) => {
        count = z.object({ count: z.int() }).parse(state).count
      },
    },
  })
}

const echo = tool({
  name: "echo",
  description: "Says it again",
  parameters: z.object({ text: z.string() }),
  execute: ({ text }) => text,
})

describe("StaticWorkbench", () => {
  it("lists its tools and calls them", async () => {
    await using workbench = staticWorkbench([counter(), echo])
    expect((await workbench.listTools()).map(({ name }) => name)).toEqual(["count", "echo"])
    expect(await workbench.callTool("count")).toMatchObject({ name: "count", result: [{ content: "1" }] })
    expect(await workbench.callTool("count", null)).toMatchObject({ result: [{ content: "2" }] })
  })

  it("keeps the state of a tool under any name", async () => {
    const state: unknown[] = []
    const trap = tool({
      name: "__proto__",
      description: "d",
      execute: () => 1,
      state: { save: () => ({ kept: true }), load: (saved) => void state.push(saved) },
    })
    const workbench = staticWorkbench([trap])
    await workbench.loadState(JSON.parse(JSON.stringify(await workbench.saveState())) as never)
    expect(state).toEqual([{ kept: true }])
  })

  it.each<[string, object]>([
    ["an option that is none", { override: {} }],
    ["an override that is none", { overrides: { echo: { title: "x" } } }],
    ["an approver that is none", { approve: true }],
  ])("refuses %s", (_, options) => {
    expect(failureOf(() => staticWorkbench([echo], options))).toMatch(/^OPTION_INVALID/)
  })

  it("says which tools there are when one is called that is not", async () => {
    const result = await staticWorkbench([counter(), echo]).callTool("ehco")
    expect(result).toMatchObject({ name: "ehco", isError: true })
    expect(toolResultText(result)).toBe('There is no tool "ehco". Did you mean echo? Tools: count, echo.')
    expect(toolResultText(await staticWorkbench([]).callTool("toString"))).toBe(
      'There is no tool "toString". There are none.',
    )
  })

  it("shows and calls a tool under its other name alone, in streams too", async () => {
    const overrides = { count: { name: "tally", description: "Adds up" }, echo: { name: "echo" } }
    const workbench = staticWorkbench([counter(), echo], { overrides })
    expect(await workbench.listTools()).toMatchObject([
      { name: "tally", description: "Adds up" },
      { name: "echo" },
    ])
    const items = []
    for await (const item of workbench.callToolStream("tally", { by: 5 })) items.push(item)
    expect(items).toMatchObject([
      { type: "ToolChunk", name: "tally" },
      { type: "ToolResult", name: "tally", result: [{ content: "5" }] },
    ])
    expect(await workbench.callTool("count")).toMatchObject({ isError: true })
  })

  it("refuses names that clash, are not valid, or are of no tool", () => {
    const make = (overrides: Record<string, { name: string }>): string =>
      failureOf(() => staticWorkbench([counter(), echo], { overrides }))
    expect(make({ count: { name: "echo" } })).toMatch(
      /^TOOL_INVALID: Two tools would be called echo: count and echo/,
    )
    expect(make({ count: { name: "a b" } })).toMatch(/^TOOL_INVALID: "a b" is no name/)
    expect(make({ coutn: { name: "x" } })).toMatch(
      /^TOOL_INVALID: There is an override for coutn.*Did you mean count/,
    )
    expect(failureOf(() => staticWorkbench([echo, echo]))).toMatch(
      /^TOOL_INVALID: Two tools would be called echo/,
    )
  })

  it("lets two tools swap their names", async () => {
    const workbench = staticWorkbench([counter(), echo], {
      overrides: { count: { name: "echo" }, echo: { name: "count" } },
    })
    expect(await workbench.callTool("count", { text: "hi" })).toMatchObject({ result: [{ content: "hi" }] })
  })

  it("saves and loads what its tools keep, by their own names", async () => {
    const before = staticWorkbench([counter(), echo])
    await before.callTool("count", { by: 41 })
    const state = JSON.parse(JSON.stringify(await before.saveState())) as Awaited<
      ReturnType<typeof before.saveState>
    >
    const after = staticWorkbench([counter(), echo], { overrides: { count: { name: "tally" } } })
    await after.loadState(state)
    expect(await after.callTool("tally")).toMatchObject({ result: [{ content: "42" }] })
    await expectFailure(staticWorkbench([echo]).loadState(state), "STATE_INVALID", /no such tool/)
    await expectFailure(after.loadState({ type: "other" }), "STATE_INVALID", /no state of a static workbench/)
    const stateOfEcho = { type: "StaticWorkbenchState", tools: { echo: 1 } }
    await expectFailure(after.loadState(stateOfEcho), "STATE_INVALID", /echo, which keeps none/)
  })

  it("asks its own approver, or the call's", async () => {
    const guarded = tool({ name: "guarded", description: "d", approval: true, execute: () => "done" })
    const deny = { approve: () => ({ approved: false as const }) }
    const allow = { approve: () => ({ approved: true as const }) }
    await expectFailure(staticWorkbench([guarded]).callTool("guarded"), "TOOL_APPROVAL_REQUIRED")
    expect(await staticWorkbench([guarded], deny).callTool("guarded")).toMatchObject({ isError: true })
    expect(await staticWorkbench([guarded], deny).callTool("guarded", {}, allow)).toMatchObject({
      isError: false,
    })
  })
})

describe("executeFunctionCall", () => {
  const workbench = staticWorkbench([echo, counter()])

  it("answers a model's call", async () => {
    const call = { id: "call_1", name: "echo", arguments: '{"text":"hi"}' }
    const { answer, result } = await executeFunctionCall(workbench, call)
    expect(answer).toEqual({ callId: "call_1", name: "echo", content: "hi", isError: false })
    expect(result.result).toHaveLength(1)
  })

  it("takes no arguments for none, and answers to what is no JSON", async () => {
    const empty = await executeFunctionCall(workbench, { id: "1", name: "count", arguments: " " })
    expect(empty.answer).toMatchObject({ isError: false })
    const broken = await executeFunctionCall(workbench, { id: "2", name: "echo", arguments: '{"text":"h' })
    expect(broken.answer).toMatchObject({ callId: "2", isError: true })
    expect(broken.answer.content).toMatch(/^The arguments of echo are no JSON: .*call it again\.$/)
  })
})
