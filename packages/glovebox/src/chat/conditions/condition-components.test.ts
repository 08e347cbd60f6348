import { describe, expect, it } from "vitest"
import { ComponentRegistry } from "../../core/index.ts"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { say, tell } from "./conditions.test-kit.ts"
import {
  ExternalTermination,
  FunctionCallTermination,
  FunctionalTermination,
  HandoffTermination,
  MaxMessageTermination,
  SourceMatchTermination,
  StopMessageTermination,
  TerminationCondition,
  TextMentionTermination,
  TextMessageTermination,
  TimeoutTermination,
  TokenUsageTermination,
  conditionComponents,
} from "./index.ts"

const registry = new ComponentRegistry(conditionComponents)
const mention = new TextMentionTermination("DONE", { sources: ["critic"] })

describe("a condition as data", () => {
  it.each<[TerminationCondition, object]>([
    [new MaxMessageTermination(5), { max_messages: 5, include_agent_event: false }],
    [mention, { text: "DONE", sources: ["critic"], include_agent_event: false }],
    [
      new TokenUsageTermination({ maxPromptToken: 9 }),
      { max_total_token: null, max_prompt_token: 9, max_completion_token: null },
    ],
    [new HandoffTermination("user"), { target: "user" }],
    [new TimeoutTermination("1.5s"), { timeout_seconds: 1.5 }],
    [new ExternalTermination(), {}],
    [new SourceMatchTermination(["a"]), { sources: ["a"] }],
    [new TextMessageTermination("a"), { source: "a" }],
    [new TextMessageTermination(), { source: null }],
    [new FunctionCallTermination("f"), { function_name: "f" }],
    [new StopMessageTermination(), {}],
  ])("has the fields that AutoGen has, and is made again from them: %o", (condition, config) => {
    const model = condition.toComponent()
    const name = condition.constructor.name
    expect(model).toMatchObject({
      provider: `glovebox.conditions.${name}`,
      component_type: "termination",
      config,
    })
    const again = registry.load(JSON.parse(JSON.stringify(model)), TerminationCondition)
    expect(again.toComponent()).toEqual(model)
    const theirs = { provider: `autogen_agentchat.conditions.${name}`, config }
    expect(registry.load(theirs, TerminationCondition).toComponent()).toEqual(model)
  })

  it("keeps combinations inside one another, and the sources of a mention", async () => {
    const condition = mention.and(new StopMessageTermination().or(new MaxMessageTermination(2)))
    const model = condition.toComponent()
    const again = registry.load(JSON.parse(JSON.stringify(model)), TerminationCondition)
    expect(again.toComponent()).toEqual(model)
    expect(await tell(again, say("DONE"), say("2"))).toBeUndefined()
    expect(await tell(again, say("DONE", "critic"))).toMatch(/^critic said/)
    const { config } = model
    const theirs = { provider: "autogen_agentchat.base.AndTerminationCondition", config }
    expect(registry.load(theirs, TerminationCondition).toComponent()).toEqual(model)
  })

  it("is refused where a function would be lost, or something else is inside", () => {
    const functional = new FunctionalTermination(() => true)
    expect(failureOf(() => functional.or(mention).toComponent())).toMatch(
      /^COMPONENT_INVALID: A FunctionalTermination/,
    )
    const provider = "glovebox.conditions.OrTerminationCondition"
    expect(failureOf(() => registry.load({ provider, config: { conditions: ["x"] } }))).toMatch(
      /^COMPONENT_INVALID/,
    )
  })
})
