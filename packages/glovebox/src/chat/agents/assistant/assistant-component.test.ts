import { describe, expect, it } from "vitest"
import { z } from "zod"
import { failureOf } from "../../../core/failure-of.test-kit.ts"
import { ComponentRegistry } from "../../../core/index.ts"
import {
  BufferedChatCompletionContext,
  ListMemory,
  UnboundedChatCompletionContext,
} from "../../../memory/index.ts"
import type { ModelInfo } from "../../../models/index.ts"
import { ReplayChatCompletionClient } from "../../../models/replay/index.ts"
import { StaticWorkbench } from "../../../tools/index.ts"
import { functionToolComponent, toolComponent } from "../../../tools/tool-component.ts"
import { AssistantAgent, handoff } from "./index.ts"
import { call, forever, lastMessage, toolThat, workbenchOf } from "./assistant.test-kit.ts"

const look = toolThat("look", "seen")
const hear = toolThat("hear", "heard")
const MUTE: ModelInfo = {
  vision: false,
  functionCalling: false,
  jsonOutput: false,
  structuredOutput: false,
  family: "unknown",
}

function registry(): ComponentRegistry {
  return new ComponentRegistry([
    AssistantAgent.definition,
    ReplayChatCompletionClient.definition,
    BufferedChatCompletionContext.definition,
    UnboundedChatCompletionContext.definition,
    ListMemory.definition,
    StaticWorkbench.definition,
    functionToolComponent,
    toolComponent(look),
    toolComponent(hear),
  ])
}

function failure(options: Readonly<Record<string, unknown>>): string {
  const modelClient = new ReplayChatCompletionClient([])
  return failureOf(() => new AssistantAgent({ name: "coder", modelClient, ...options }))
}

describe("AssistantAgent's options", () => {
  it.each([
    [{ tool: [] }, /tool is not an option; did you mean tools/],
    [{ max_tool_iterations: 3 }, /did you mean maxToolRounds/],
    [{ tools: [() => "seen"] }, /tools\.0: a function is no tool. Make one with tool\(/],
    [{ tools: [look, look] }, /^TOOL_INVALID: Two tools/],
    [{ handoffs: ["a", "A"] }, /Two handoffs are called transfer_to_a/],
    [{ tools: [look], handoffs: [{ target: "a", name: "look" }] }, /A tool is called look/],
    [{ handoffs: [7] }, /handoffs/],
    [{ workbench: {} }, /workbench/],
    [{ memory: new ListMemory() }, /memory/],
    [{ maxToolRounds: 0 }, /maxToolRounds/],
    [{ turnTimeout: "soon" }, /turnTimeout: "soon" is not a time/],
    [{ modelClient: {} }, /modelClient: .* is no model client/],
    [{ outputContentType: 5 }, /jsonOutput is 5|no schema/],
    [{ outputContentTypeFormat: "{a}" }, /outputContentType, which is missing/],
    [{ name: "my agent" }, /^AGENT_INVALID/],
  ])("are refused when they are %j", (options, message) => {
    expect(failure(options)).toMatch(message)
  })

  it("are refused when the model cannot do what they need", () => {
    const modelClient = new ReplayChatCompletionClient([], { modelInfo: MUTE })
    expect(failure({ modelClient, tools: [look] })).toMatch(/functionCalling: false/)
    expect(failure({ modelClient, handoffs: ["user"] })).toMatch(/functionCalling: false/)
    expect(failure({ modelClient, outputContentType: z.object({}) })).toMatch(/structuredOutput: false/)
  })

  it("say which messages it may answer with", () => {
    const modelClient = new ReplayChatCompletionClient([])
    expect(new AssistantAgent({ name: "a", modelClient }).producedMessageTypes).toEqual(["TextMessage"])
    expect(new AssistantAgent({ name: "a", modelClient, handoffs: ["b"] }).producedMessageTypes).toEqual([
      "TextMessage",
      "ToolCallSummaryMessage",
      "HandoffMessage",
    ])
  })
})

describe("AssistantAgent as a component", () => {
  it("is the same when it is loaded again", async () => {
    const modelClient = new ReplayChatCompletionClient([[call("look", {}, "1"), call("hear", {}, "2")]])
    const assistant = new AssistantAgent({
      name: "coder",
      description: "Codes",
      modelClient,
      tools: [look],
      workbench: [new StaticWorkbench([hear])],
      handoffs: ["reviewer", handoff({ target: "user", message: "Yours." })],
      modelContext: new BufferedChatCompletionContext({ bufferSize: 20 }),
      memory: [new ListMemory({ contents: [{ content: "tea" }] })],
      systemMessage: null,
      toolLoop: "single-round",
      reflectOnToolUse: false,
      maxToolRounds: 3,
      maxToolCalls: 5,
      maxTokens: 1000,
      turnTimeout: "2m",
      parallelToolCalls: false,
      toolCallSummaryFormat: "{toolName}: {result}",
      outputContentType: z.object({ a: z.string() }).meta({ title: "A" }),
      outputContentTypeFormat: "{a}",
      metadata: { team: "red" },
    })
    const data: unknown = JSON.parse(JSON.stringify(assistant.toComponent()))
    expect(data).toMatchObject({ provider: "glovebox.agents.AssistantAgent", component_version: 2 })
    const loaded = registry().load(data, AssistantAgent)
    expect(JSON.parse(JSON.stringify(loaded.toComponent()))).toEqual(data)
    expect(lastMessage(await loaded.run("Go"))).toMatchObject({
      content: "look: seen\nhear: heard",
      metadata: { team: "red" },
    })
  })

  it("ends what was made for it, and nothing else, when it is closed", async () => {
    const data = new AssistantAgent({
      name: "coder",
      modelClient: new ReplayChatCompletionClient(["ok"]),
    }).toComponent()
    const loaded = registry().load(data, AssistantAgent)
    await loaded.close()
    await loaded.close()
    await expect(loaded.run("Hi")).rejects.toMatchObject({ code: "MODEL_CLIENT_CLOSED" })
  })

  it("is read from AutoGen's data, in which one iteration is a single round", async () => {
    const model_client = new ReplayChatCompletionClient([[call("look")]]).toComponent()
    const loaded = registry().load(
      {
        provider: "autogen_agentchat.agents.AssistantAgent",
        component_type: "agent",
        version: 1,
        component_version: 2,
        description: null,
        label: "AssistantAgent",
        config: {
          name: "coder",
          model_client,
          workbench: [
            {
              provider: "autogen_core.tools.StaticStreamWorkbench",
              config: { tools: [{ provider: "autogen_core.tools.FunctionTool", config: { name: "look" } }] },
            },
          ],
          handoffs: [{ target: "user", name: "transfer_to_user", description: "d", message: "m" }],
          model_context: {
            provider: "autogen_core.model_context.UnboundedChatCompletionContext",
            config: {},
          },
          description: "An agent",
          system_message: "Be brief.",
          model_client_stream: false,
          reflect_on_tool_use: false,
          tool_call_summary_format: "{tool_name}: {result}",
          max_tool_iterations: 1,
          metadata: {},
        },
      },
      AssistantAgent,
    )
    expect(lastMessage(await loaded.run("Go"))).toMatchObject({ content: "look: seen" })
  })

  it.each([
    [{ approve: () => ({ approved: true }) }, /approve of coder is a function/],
    [{ toolCallSummaryFormat: () => "" }, /toolCallSummaryFormat of coder is a function/],
    [{ workbench: workbenchOf("x", () => forever() as never) }, /workbench\[0\] of coder/],
  ])("cannot be written down with %o", (options, message) => {
    const modelClient = new ReplayChatCompletionClient([])
    const assistant = new AssistantAgent({ name: "coder", modelClient, ...(options as object) })
    const text = failureOf(() => assistant.toComponent())
    expect(text).toMatch(/^COMPONENT_INVALID/)
    expect(text).toMatch(message)
  })
})
