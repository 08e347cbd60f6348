import { describe, expect, it, vi } from "vitest"
import { z } from "zod"
import { type ReplayResponse } from "../../../models/replay/index.ts"
import { tool } from "../../../tools/index.ts"
import {
  agent,
  resultsOf,
  call,
  forever,
  lastMessage,
  openCalls,
  toolThat,
  workbenchOf,
} from "./assistant.test-kit.ts"

describe("AssistantAgent stops", () => {
  const look = toolThat("look", "seen")
  const endless = (): ReplayResponse[] => Array.from({ length: 9 }, () => [call("look"), call("look")])

  it.each([
    ["tool-rounds", { maxToolRounds: 2 }, 4],
    ["tool-calls", { maxToolCalls: 3 }, 3],
    ["tokens", { maxTokens: 1 }, 0],
  ] as const)("at its cap of %s, with a summary of all rounds", async (stopKind, caps, done) => {
    const { assistant, modelClient } = agent([...endless(), "never"], { tools: [look], ...caps })
    const result = await assistant.run("Go")
    const last = lastMessage(result)
    expect(result.stopKind).toBe(stopKind)
    expect(last).toMatchObject({ type: "ToolCallSummaryMessage" })
    if (last?.type !== "ToolCallSummaryMessage") throw new Error("no summary")
    expect(last.results).toHaveLength(done)
    expect(last.toolCalls).toHaveLength(done)
    expect(last.content).toBe(
      done === 0 ? result.stopReason : Array.from({ length: done }, () => "seen").join("\n"),
    )
    expect(openCalls(await assistant.modelContext.getMessages())).toEqual([])
    expect(result.usage).toEqual(modelClient.actualUsage())
  })

  it("not before the model had a word after its last round", async () => {
    const { assistant } = agent([[call("look")], "Seen."], {
      tools: [look],
      maxToolRounds: 1,
      maxToolCalls: 1,
    })
    expect(await assistant.run("Go")).toMatchObject({ stopKind: "answer" })
  })

  it("at a cap in the model's own words when it is to reflect", async () => {
    const { assistant, modelClient } = agent([[call("look")], [call("look")], "I saw it."], {
      tools: [look],
      maxToolRounds: 1,
      reflectOnToolUse: true,
    })
    const result = await assistant.run("Go")
    expect(result.stopKind).toBe("tool-rounds")
    expect(lastMessage(result)).toMatchObject({ type: "TextMessage", content: "I saw it." })
    expect(modelClient.createCalls[2]?.options.toolChoice).toBe("none")
  })

  it("at its cap of tokens without one more request, also when it is to reflect", async () => {
    const { assistant, modelClient } = agent([[call("look")], "never"], {
      tools: [look],
      maxTokens: 1,
      reflectOnToolUse: true,
    })
    expect(await assistant.run("Go")).toMatchObject({ stopKind: "tokens" })
    expect(modelClient.createCalls).toHaveLength(1)
  })

  it("when its time is over, whatever a tool does about it", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    try {
      const script = [[call("look")], [call("look"), call("stuck")], "never"]
      const stuck = workbenchOf("stuck", async function* () {
        yield* []
        vi.advanceTimersByTime(120_000)
        return forever()
      })
      const { assistant } = agent(script, {
        tools: [look],
        workbench: stuck,
        turnTimeout: "2m",
        parallelToolCalls: false,
      })
      const result = await assistant.run("Go")
      expect(result).toMatchObject({ stopKind: "time", stopReason: "coder was not done in its time of 2m." })
      expect(lastMessage(result)).toMatchObject({
        type: "ToolCallSummaryMessage",
        content: expect.stringMatching(/^seen\nseen\nIt did not end in the time of the turn/),
      })
      expect(resultsOf(result)).toHaveLength(3)
      expect(openCalls(await assistant.modelContext.getMessages())).toEqual([])
    } finally {
      vi.useRealTimers()
    }
  })

  it("when its time is over before the model said anything", async () => {
    const { assistant } = agent([forever, "ok"], { turnTimeout: "1ms" })
    const result = await assistant.run("Go")
    expect(result).toMatchObject({ stopKind: "time", stopReason: "coder was not done in its time of 1ms." })
    expect(lastMessage(result)).toMatchObject({ type: "ToolCallSummaryMessage", content: result.stopReason })
  })
})

describe("AssistantAgent in a single round", () => {
  const look = toolThat("look", "seen")

  it("answers with the results as they are", async () => {
    const { assistant } = agent([[call("look", {}, "l1"), call("look", {}, "l2")]], {
      tools: [look],
      toolLoop: "single-round",
    })
    const result = await assistant.run("Go")
    expect(result.stopKind).toBe("answer")
    expect(lastMessage(result)).toMatchObject({ type: "ToolCallSummaryMessage", content: "seen\nseen" })
  })

  it.each([
    ["{toolName}({arguments}) = {result} {isError}", 'look({"at":"{result}"}) = seen false'],
    ["{tool_name}: {result}", "look: seen"],
    [
      (made: { name: string }, { content }: { content: string }) => `${made.name} said ${content}`,
      "look said seen",
    ],
  ])("writes them by %s", async (toolCallSummaryFormat, content) => {
    const looking = tool({
      name: "look",
      description: "Looks",
      parameters: z.object({ at: z.string() }),
      execute: () => "seen",
    })
    const { assistant } = agent([[call("look", { at: "{result}" })]], {
      tools: [looking],
      toolLoop: "single-round",
      toolCallSummaryFormat,
    })
    expect(lastMessage(await assistant.run("Go"))).toMatchObject({ content })
  })

  it("reflects when it is to, without tools", async () => {
    const { assistant, modelClient } = agent([[call("look")], "I saw it."], {
      tools: [look],
      toolLoop: "single-round",
      reflectOnToolUse: true,
    })
    const result = await assistant.run("Go")
    expect(lastMessage(result)).toMatchObject({ type: "TextMessage", content: "I saw it." })
    expect(modelClient.createCalls[1]?.options.toolChoice).toBe("none")
  })

  it("falls back on the results when the model has no words for them", async () => {
    const { assistant, modelClient } = agent([[call("look")], [call("look")]], {
      tools: [look],
      toolLoop: "single-round",
      reflectOnToolUse: true,
    })
    const result = await assistant.run("Go")
    expect(lastMessage(result)).toMatchObject({ type: "ToolCallSummaryMessage", content: "seen" })
    expect(result.usage).toEqual(modelClient.actualUsage())
  })
})
