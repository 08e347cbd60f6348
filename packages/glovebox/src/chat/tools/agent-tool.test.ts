import { describe, expect, it, vi } from "vitest"
import { ComponentRegistry } from "../../core/index.ts"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { gate } from "../../core/gate.test-kit.ts"
import { memoryComponents } from "../../memory/index.ts"
import { ReplayChatCompletionClient } from "../../models/replay/index.ts"
import { type Tool, type ToolStreamItem, tool, toolResultText } from "../../tools/index.ts"
import { AssistantAgent } from "../agents/assistant/index.ts"
import { BaseChatAgent } from "../agents/base-chat-agent.ts"
import { TextMessage, ThoughtEvent, toText } from "../messages/index.ts"
import { ScriptedAgent, untilAborted } from "../scripted-agent.test-kit.ts"
import { type Response, response, sumUsage } from "../task/index.ts"
import { AgentTool } from "./index.ts"
import { model, textOf } from "./runner-tools.test-kit.ts"

/** Says what it has heard since it was made or reset, and counts how many of its turns run at the same time. */
class Diary extends BaseChatAgent {
  static running = 0
  static most = 0
  closed = 0
  #heard: string[] = []

  constructor() {
    super("diary", "Keeps what it hears.")
  }

  override async onMessages(messages: readonly Parameters<typeof toText>[0][]): Promise<Response> {
    Diary.running += 1
    Diary.most = Math.max(Diary.most, Diary.running)
    await new Promise((resolve) => setImmediate(resolve))
    this.#heard.push(...messages.map(toText))
    Diary.running -= 1
    return response(TextMessage({ content: this.#heard.join("+"), source: this.name }))
  }

  override async onReset(): Promise<void> {
    this.#heard = []
  }

  override async saveState(): Promise<{ heard: string[] }> {
    return { heard: [...this.#heard] }
  }

  override async loadState({ heard }: { heard?: unknown }): Promise<void> {
    if (!Array.isArray(heard)) throw new Error("no diary")
    this.#heard = [...(heard as string[])]
  }

  override async close(): Promise<void> {
    this.closed += 1
  }
}

describe("a tool that yields messages", () => {
  it("passes them on whole, beside its own words", async () => {
    const thought = ThoughtEvent({ content: "hm", source: "a" })
    const talking = tool({
      name: "talk",
      description: "Talks",
      async *execute() {
        yield thought
        yield "word"
        return "end"
      },
    })
    const items: ToolStreamItem[] = []
    for await (const item of talking.stream({})) items.push(item)
    expect(items[0]).toEqual({
      type: "ToolChunk",
      name: "talk",
      content: { type: "TextResultContent", content: "" },
      message: thought,
    })
    expect(items[1]).not.toHaveProperty("message")
  })
})

describe("AgentTool", () => {
  it("has the agent's name and description, and one argument", async () => {
    const made = new AgentTool({ agent: new ScriptedAgent("helper") })
    expect(made).toMatchObject({ name: "helper", risk: "low" })
    expect(made.schema).toMatchObject({
      description: "helper of the test.",
      strict: true,
      parameters: {
        properties: { task: { type: "string" } },
        required: ["task"],
        additionalProperties: false,
      },
    })
    expect(await made.run({})).toMatchObject({ isError: true })
    expect(await made.needsApproval({ task: "x" })).toBe(false)
    const renamed = new AgentTool({ agent: new ScriptedAgent("helper"), name: "ask", description: "Asks." })
    expect(renamed.schema).toMatchObject({ name: "ask", description: "Asks." })
  })

  it("tells what the agent says, or its last words only", async () => {
    const agent = new ScriptedAgent("helper", undefined, {
      events: () => [
        ThoughtEvent({ content: "hm", source: "helper" }),
        TextMessage({ content: "first", source: "helper" }),
        TextMessage({ content: "quoted", source: "user" }),
      ],
    })
    const all = new AgentTool({ agent })
    const last = new AgentTool({ agent, returnValueAsLastMessage: true })
    expect(await textOf(all.run({ task: "x" }))).toBe("helper: first\n\nhelper: helper1")
    expect(await textOf(last.run({ task: "x" }))).toBe("helper1")
    expect(agent.heard).toEqual([["x"], ["x"]])
  })

  it("begins each call with the state that the agent had when the tool was made", async () => {
    const agent = new Diary()
    await agent.run("before")
    const fresh = new AgentTool({ agent, returnValueAsLastMessage: true })
    await agent.run("between")
    expect(await textOf(fresh.run({ task: "one" }))).toBe("before+one")
    expect(await textOf(fresh.run({ task: "two" }))).toBe("before+two")
    expect(await fresh.saveState()).toBeUndefined()
  })

  it("keeps its state when it is told to, and saves it as its own", async () => {
    const options = { returnValueAsLastMessage: true, state: "kept" } as const
    const kept = new AgentTool({ agent: new Diary(), ...options })
    await kept.run({ task: "one" })
    expect(await textOf(kept.run({ task: "two" }))).toBe("one+two")
    const other = new AgentTool({ agent: new Diary(), ...options })
    await other.loadState((await kept.saveState()) ?? null)
    expect(await textOf(other.run({ task: "three" }))).toBe("one+two+three")
  })

  it("does parallel calls of one agent one after another, and both succeed", async () => {
    Diary.most = 0
    const shared = new AgentTool({ agent: new Diary(), returnValueAsLastMessage: true })
    const tasks = ["one", "two", "three"]
    const results = await Promise.all(tasks.map((task) => textOf(shared.run({ task }))))
    expect(results).toEqual(tasks)
    expect(Diary.most).toBe(1)
  })

  it("does parallel calls side by side with an agent made for each, and closes them", async () => {
    Diary.most = 0
    const made: Diary[] = []
    const side = new AgentTool({
      agent: () => {
        const diary = new Diary()
        made.push(diary)
        return diary
      },
      name: "diary",
      description: "Keeps.",
    })
    const results = await Promise.all(["one", "two"].map((task) => textOf(side.run({ task }))))
    expect(results).toEqual(["diary: one", "diary: two"])
    expect(Diary.most).toBe(2)
    expect(made.map(({ closed }) => closed)).toEqual([1, 1])
  })

  it("turns what goes wrong into an error that a model can read, and works again", async () => {
    let isBad = true
    const agent = new ScriptedAgent("helper", () => {
      if (isBad) throw new Error("out of order")
      return "fine"
    })
    const shared = new AgentTool({ agent })
    const result = await shared.run({ task: "x" })
    expect(result).toMatchObject({ isError: true })
    expect(toolResultText(result)).toContain("out of order")
    isBad = false
    expect(await shared.run({ task: "x" })).toMatchObject({ isError: false })
    const broken = new AgentTool({
      agent: async () => {
        throw new Error("none left")
      },
      name: "x",
      description: "x",
    })
    expect(await textOf(broken.run({ task: "x" }))).toContain("none left")
    const nothing = new AgentTool({ agent: (() => undefined) as never, name: "x", description: "x" })
    expect(await textOf(nothing.run({ task: "x" }))).toContain("made none")
  })

  it("ends the agent's turn when the call is aborted, and lets the next one in", async () => {
    const began = gate()
    let isFirst = true
    const agent = new ScriptedAgent("helper", (context) => {
      if (!isFirst) return "done"
      isFirst = false
      return untilAborted(began.open)(context)
    })
    const shared = new AgentTool({ agent })
    const controller = new AbortController()
    const first = shared.run({ task: "one" }, { signal: controller.signal })
    const second = shared.run({ task: "two" })
    const third = new AbortController()
    const given = shared.run({ task: "three" }, { signal: third.signal })
    await began.promise
    third.abort(new Error("not any more"))
    await expect(given).rejects.toThrow("not any more")
    controller.abort(new Error("enough"))
    await expect(first).rejects.toThrow("enough")
    expect(await textOf(second)).toBe("helper: done")
    expect(agent.heard).toEqual([["one"], ["two"]])
  })

  it("does not wait for ever for an agent that does not look at its signal", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    try {
      const began = gate()
      const agent = new ScriptedAgent("helper", async () => {
        began.open()
        return new Promise<never>(() => {})
      })
      const shared = new AgentTool({ agent })
      const controller = new AbortController()
      const first = shared.run({ task: "one" }, { signal: controller.signal })
      await began.promise
      const second = shared.run({ task: "two" })
      controller.abort(new Error("enough"))
      await expect(first).rejects.toThrow("enough")
      await vi.advanceTimersByTimeAsync(10_000)
      expect(await second).toMatchObject({ isError: true })
      expect(await textOf(second)).toContain("still works on a turn that was cancelled")
    } finally {
      vi.useRealTimers()
    }
  })

  it("lets a reset that was cut off end before the next call", async () => {
    const [began, held] = [gate(), gate()]
    let resets = 0
    class SlowToReset extends Diary {
      override async onReset(): Promise<void> {
        resets += 1
        if (resets === 1) {
          began.open()
          await held.promise
        }
        await super.onReset()
      }
    }
    const diary = new AgentTool({ agent: new SlowToReset() })
    const controller = new AbortController()
    const first = diary.run({ task: "one" }, { signal: controller.signal })
    await began.promise
    controller.abort(new Error("enough"))
    await expect(first).rejects.toThrow("enough")
    const second = diary.run({ task: "two" })
    await new Promise((resolve) => setImmediate(resolve))
    expect(resets).toBe(1)
    held.open()
    expect(await textOf(second)).toBe("diary: two")
  })

  it("refuses a task that its agent gives to itself, at any depth, instead of waiting for ever", async () => {
    const tools: AgentTool[] = []
    const [a, b] = ["a", "b"].map((name, index) => {
      const agent = new ScriptedAgent(name, async ({ signal }) => {
        const other = tools[1 - index]
        return other ? textOf(other.run({ task: "yours" }, { signal })) : ""
      })
      tools.push(new AgentTool({ agent }))
      return agent
    })
    expect(await textOf(tools[0]?.run({ task: "go" }) as ReturnType<Tool["run"]>)).toMatch(
      /^a: b: a works on the task that this is a part of/,
    )
    expect([a?.heard, b?.heard]).toEqual([[["go"]], [["yours"]]])
  })

  it("does not reset an agent that somebody else runs", async () => {
    const began = gate()
    const agent = new ScriptedAgent("helper", untilAborted(began.open))
    const shared = new AgentTool({ agent })
    const controller = new AbortController()
    const run = agent.run("long", { signal: controller.signal })
    await began.promise
    expect(await shared.run({ task: "short" })).toMatchObject({ isError: true })
    expect(agent.calls).toEqual([])
    controller.abort(new Error("enough"))
    await expect(run).rejects.toThrow("enough")
  })

  it("ends the agent's turn when its stream is left, and closes an agent that was made", async () => {
    const closed = gate()
    const make = (): ScriptedAgent => {
      const agent = new ScriptedAgent(
        "helper",
        untilAborted(() => {}),
        {
          events: () => [ThoughtEvent({ content: "hm", source: "helper" })],
        },
      )
      agent.close = async () => closed.open()
      return agent
    }
    const side = new AgentTool({ agent: make, name: "helper", description: "Helps." })
    for await (const item of side.stream({ task: "x" })) if (item.type === "ToolChunk") break
    await closed.promise
    expect(await side.saveState()).toBeUndefined()
  })

  it("shows what its agent does in the stream of whoever calls it, and adds up what both used", async () => {
    const inner = model("inner answer")
    const outer = model([{ id: "1", name: "helper", arguments: '{"task":"help"}' }], "outer answer")
    const helper = new AssistantAgent({ name: "helper", modelClient: inner, modelClientStream: true })
    const agent = new AssistantAgent({
      name: "boss",
      modelClient: outer,
      tools: [new AgentTool({ agent: helper })],
    })
    const streamed: string[] = []
    for await (const item of agent.runStream("task")) {
      if (item.type !== "TaskResult") {
        streamed.push(`${item.source} ${item.type}`)
        continue
      }
      expect(item.usage).toEqual(
        sumUsage([inner, outer].map((client) => ({ modelsUsage: client.actualUsage() }))),
      )
      expect(item.messages.map(({ source }) => source)).toEqual(["user", "boss", "helper", "boss", "boss"])
    }
    expect(streamed).toEqual([
      "user TextMessage",
      "boss ToolCallRequestEvent",
      "helper ModelClientStreamingChunkEvent",
      "helper ModelClientStreamingChunkEvent",
      "helper TextMessage",
      "boss ToolCallExecutionEvent",
      "boss TextMessage",
    ])
  })

  it("refuses what it cannot work with", () => {
    const agent = new ScriptedAgent("helper")
    const make = (options: object): string => failureOf(() => new AgentTool(options as never))
    expect(make({ agent: () => agent })).toMatch(/^OPTION_INVALID: .*name and description/)
    expect(make({ agent: () => agent, name: "a", description: "b", state: "kept" })).toMatch(
      /^OPTION_INVALID: .*keep its state/,
    )
    expect(make({ agent: "helper" })).toMatch(/^OPTION_INVALID: .*must be an agent/)
    expect(make({ agent, return_value_as_last_message: true })).toMatch(
      /did you mean returnValueAsLastMessage/,
    )
    expect(make({ agent, name: "no name" })).toMatch(/^TOOL_INVALID/)
  })

  it("is written down as data, and made again from it", () => {
    const registry = new ComponentRegistry([
      AgentTool.definition,
      AssistantAgent.definition,
      ReplayChatCompletionClient.definition,
      ...memoryComponents,
    ])
    const agent = new AssistantAgent({ name: "helper", modelClient: model() })
    const data = new AgentTool({ agent, state: "kept", returnValueAsLastMessage: true }).toComponent()
    expect(data.config).toMatchObject({ state: "kept", return_value_as_last_message: true })
    const alias = { ...data, provider: "autogen_agentchat.tools.AgentTool" }
    expect(registry.load(alias, AgentTool).toComponent()).toEqual(data)
    const made = new AgentTool({ agent: () => agent, name: "a", description: "b" })
    expect(failureOf(() => made.toComponent())).toMatch(/^COMPONENT_INVALID: agent is a function/)
  })
})
