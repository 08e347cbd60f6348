import { describe, expect, it } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import {
  type ChatItem,
  HandoffMessage,
  ModelClientStreamingChunkEvent,
  StopMessage,
  TextMessage,
  ThoughtEvent,
  ToolCallExecutionEvent,
  ToolCallRequestEvent,
} from "../messages/index.ts"
import { say, task, tell } from "./conditions.test-kit.ts"
import {
  ExternalTermination,
  FunctionCallTermination,
  FunctionalTermination,
  HandoffTermination,
  MaxMessageTermination,
  SourceMatchTermination,
  StopMessageTermination,
  TextMentionTermination,
  TextMessageTermination,
  TokenUsageTermination,
} from "./index.ts"

const source = "writer"
const thought = (content: string): ChatItem => ThoughtEvent({ content, source })
const handoff = (target: string): ChatItem => HandoffMessage({ content: "yours", target, source })
const stop = StopMessage({ content: "enough", source })
const called = (name: string, isError: boolean): ChatItem =>
  ToolCallExecutionEvent({ content: [{ callId: "1", name, content: "", isError }], source })
const asked = ToolCallRequestEvent({ content: [{ id: "1", name: "finish", arguments: "{}" }], source })

describe("MaxMessageTermination", () => {
  it("counts messages over several checks, the task among them", async () => {
    const condition = new MaxMessageTermination(3)
    expect(await task(condition, say("go", "user"))).toBeUndefined()
    expect(await tell(condition, say("1"))).toBeUndefined()
    expect(await tell(condition, say("2"))).toBe("There are 3 messages, and 3 are allowed.")
    await condition.reset()
    expect(await tell(condition, say("1"), say("2"))).toBeUndefined()
  })

  it("counts events only if it is told to, and pieces of messages never", async () => {
    const items = [thought("hm"), ModelClientStreamingChunkEvent({ content: "h", source }), say("1")]
    expect(await tell(new MaxMessageTermination(2), ...items)).toBeUndefined()
    const all = new MaxMessageTermination({ maxMessages: 3, includeAgentEvent: true })
    expect(await tell(all, ...items)).toBeUndefined()
    expect(await tell(all, thought("so"))).toMatch(/^There are 3 messages/)
  })
})

describe("TextMentionTermination", () => {
  it("does not fire when the task mentions the text", async () => {
    const condition = new TextMentionTermination("TERMINATE")
    expect(await task(condition, say("Say TERMINATE when you are done.", "user"))).toBeUndefined()
    expect(await tell(condition, say("All done. TERMINATE"))).toBe('writer said "TERMINATE".')
  })

  it("hears only those it is told to", async () => {
    const condition = new TextMentionTermination("OK", { sources: ["critic"] })
    expect(await tell(condition, say("OK"))).toBeUndefined()
    expect(await tell(condition, say("fine"), say("OK", "critic"))).toBe('critic said "OK".')
  })

  it("looks at thoughts and other events only if it is told to", async () => {
    expect(await tell(new TextMentionTermination("OK"), thought("shall I say OK?"))).toBeUndefined()
    const all = new TextMentionTermination("OK", { includeAgentEvent: true })
    expect(await tell(all, thought("shall I say OK?"))).toBe('writer said "OK".')
  })
})

describe("TokenUsageTermination", () => {
  const used = (promptTokens: number, completionTokens: number): ChatItem =>
    TextMessage({ content: "", source, modelsUsage: { promptTokens, completionTokens } })

  it("adds up what was used, but not what the task had cost", async () => {
    const condition = new TokenUsageTermination({ maxTotalToken: 100 })
    expect(await task(condition, used(500, 500))).toBeUndefined()
    expect(await tell(condition, used(60, 10), say("free"))).toBeUndefined()
    expect(await tell(condition, used(20, 10))).toBe("100 tokens are used, and 100 are allowed.")
  })

  it("has a limit for requests and one for answers", async () => {
    const limits = { maxPromptToken: 50, maxCompletionToken: 20 }
    expect(await tell(new TokenUsageTermination(limits), used(49, 19))).toBeUndefined()
    expect(await tell(new TokenUsageTermination(limits), used(51, 0))).toMatch(/^51 prompt tokens/)
    expect(await tell(new TokenUsageTermination(limits), used(0, 20))).toMatch(/^20 completion tokens/)
    expect(await tell(new TokenUsageTermination(limits), used(60, 30))).toMatch(/prompt.*completion/)
  })
})

describe("conditions on what is said", () => {
  it.each([
    ["HandoffTermination", () => new HandoffTermination("user"), handoff("user"), handoff("writer")],
    ["SourceMatchTermination", () => new SourceMatchTermination(["a", "b"]), say("x", "b"), say("x", "c")],
    ["TextMessageTermination", () => new TextMessageTermination(), say("x"), stop],
    ["TextMessageTermination of a name", () => new TextMessageTermination("a"), say("x", "a"), say("x")],
    ["FunctionCallTermination", () => new FunctionCallTermination("finish"), called("finish", false), asked],
    ["FunctionCallTermination of a failure", () => new FunctionCallTermination("f"), called("f", true), stop],
    ["StopMessageTermination", () => new StopMessageTermination(), stop, say("stop")],
  ] as const)("%s fires on its message only, and not on the task", async (_, make, fitting, other) => {
    expect(await tell(make(), other, fitting)).toBeDefined()
    expect(await tell(make(), other)).toBeUndefined()
    expect(await task(make(), fitting)).toBeUndefined()
  })
})

describe("ExternalTermination", () => {
  it("fires at the next check after set, and is off again after a reset", async () => {
    const condition = new ExternalTermination()
    expect(await tell(condition)).toBeUndefined()
    condition.set()
    expect(condition.terminated).toBe(false)
    expect(await tell(condition)).toMatch(/from outside/)
    expect(condition.terminated).toBe(true)
    await condition.reset()
    expect(await tell(condition)).toBeUndefined()
  })
})

describe("FunctionalTermination", () => {
  it("asks a function, which may take its time and is told what the task is", async () => {
    const seen: unknown[] = []
    const condition = new FunctionalTermination(async (messages, { isTask }) => {
      seen.push([messages.length, isTask])
      return Promise.resolve(messages.some((item) => item.source === "critic"))
    })
    expect(await task(condition, say("go", "user"))).toBeUndefined()
    expect(await tell(condition, say("x"), say("y", "critic"))).toMatch(/function/)
    expect(seen).toEqual([
      [1, true],
      [2, false],
    ])
  })

  it("takes nothing but true for a yes, and passes on what the function throws", async () => {
    expect(await tell(new FunctionalTermination(() => "yes" as never), say("x"))).toBeUndefined()
    const broken = new FunctionalTermination(() => {
      throw new TypeError("no content")
    })
    await expect(tell(broken, say("x"))).rejects.toThrow(new TypeError("no content"))
    expect(broken.terminated).toBe(false)
  })
})

describe("the options of conditions", () => {
  it.each<[string, () => unknown, RegExp]>([
    ["no number", () => new MaxMessageTermination("3" as never), /maxMessages: .*expected number/],
    ["zero messages", () => new MaxMessageTermination(0), /maxMessages/],
    [
      "an unknown option",
      () => new MaxMessageTermination({ maxMessages: 1, include_agent_events: true } as never),
      /include_agent_events is not an option; did you mean includeAgentEvent\?/,
    ],
    ["an empty text", () => new TextMentionTermination(""), /text: is empty/],
    ["no sources", () => new TextMentionTermination("x", { sources: [] }), /sources: is empty/],
    ["a source that is no list", () => new SourceMatchTermination("a" as never), /sources: /],
    ["no limit", () => new TokenUsageTermination({}), /no limit. Pass maxTotalToken/],
    ["half a token", () => new TokenUsageTermination({ maxTotalToken: 1.5 }), /maxTotalToken/],
    ["no target", () => new HandoffTermination(""), /target/],
    ["no name", () => new FunctionCallTermination(undefined as never), /functionName/],
    ["no function", () => new FunctionalTermination(true as never), /true is not a function/],
  ])("are refused with %s", (_, make, message) => {
    expect(failureOf(make)).toMatch(/^OPTION_INVALID/)
    expect(failureOf(make)).toMatch(message)
  })
})
