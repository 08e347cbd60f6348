import { describe, expect, it } from "vitest"
import { type AgentRuntime, SingleThreadedAgentRuntime } from "../../core/index.ts"
import { type AccessDenial, type AccessRule, ToolAccess } from "../../governance/index.ts"
import { ReplayChatCompletionClient, type ReplayResponse } from "../../models/replay/index.ts"
import { type Tool, tool } from "../../tools/index.ts"
import { AssistantAgent, SocietyOfMindAgent } from "../agents/index.ts"
import { call } from "../agents/assistant/assistant.test-kit.ts"
import { AgentTool } from "../tools/index.ts"
import { type Participant, RoundRobinGroupChat } from "./index.ts"

/** A runtime with these rules, a tool that they are about, and what came of it. */
function setUp(...rules: readonly AccessRule[]): {
  readonly runtime: SingleThreadedAgentRuntime
  readonly search: Tool
  readonly ran: string[]
  readonly denials: AccessDenial[]
} {
  const [ran, denials]: [string[], AccessDenial[]] = [[], []]
  const access = new ToolAccess({ rules, onDenial: (denial) => void denials.push(denial) })
  const runtime = new SingleThreadedAgentRuntime({ access })
  runtime.start()
  const search = tool({ name: "search", description: "Searches", execute: () => void ran.push("search") })
  return { runtime, search, ran, denials }
}

function assistant(
  name: string,
  tools: readonly Tool[],
  ...responses: readonly ReplayResponse[]
): AssistantAgent {
  return new AssistantAgent({ name, tools, modelClient: new ReplayChatCompletionClient(responses) })
}

/** An agent whose model calls the tool, and then says something. */
function caller(name: string, wanted: Tool): AssistantAgent {
  return assistant(
    name,
    [wanted],
    [call(wanted.name, wanted.name === "search" ? {} : { task: "Go." })],
    "Well.",
  )
}

function team(
  participants: readonly Participant[],
  runtime?: AgentRuntime,
  name = "team",
): RoundRobinGroupChat {
  return new RoundRobinGroupChat({ name, participants, maxTurns: participants.length, runtime })
}

describe("tool access in teams", () => {
  it("binds each participant by its name, and tells its model", async () => {
    const { runtime, search, ran, denials } = setUp({ agents: "finder", tools: "search" })
    await using _runtime = runtime
    await using group = team([caller("finder", search), caller("coder", search)], runtime)
    const { messages } = await group.run("Go.")
    expect(ran).toEqual(["search"])
    expect(denials).toMatchObject([{ agent: "coder", kind: "tool", name: "search" }])
    expect(denials[0]?.agentType).toMatch(/^participant\.coder_/)
    const [allowed, denied] = messages.flatMap((message) =>
      message.type === "ToolCallExecutionEvent" ? message.content : [],
    )
    expect(allowed).toMatchObject({ isError: false })
    expect(denied).toMatchObject({
      isError: true,
      content: expect.stringContaining(denials[0]?.message ?? "-") as string,
    })
    // Its model goes on with that.
    expect(messages.at(-1)).toMatchObject({ source: "coder", content: "Well." })
  })

  it("binds agents behind a participant by the participant's name", async () => {
    const { runtime, search, ran, denials } = setUp(
      { agents: "boss", tools: ["search", "finder"] },
      { agents: "finder", tools: "search" },
      { agents: "chief", tools: "finder" },
    )
    await using _runtime = runtime
    const behind = (name: string): AssistantAgent =>
      caller(name, new AgentTool({ agent: caller("finder", search) }))
    const society = (name: string): SocietyOfMindAgent =>
      new SocietyOfMindAgent({
        name,
        team: team([caller("finder", search)]),
        modelClient: new ReplayChatCompletionClient(["Well."]),
      })
    for (const make of [behind, society]) {
      for (const name of ["boss", "chief"]) {
        await using group = team([make(name)], runtime)
        await group.run("Go.")
      }
    }
    expect(ran).toEqual(["search", "search"])
    expect(denials).toMatchObject([
      { agent: "chief", name: "search" },
      { agent: "chief", name: "search" },
    ])
  })

  it("binds a team in a team by its name, and by its members' own where it is given the runtime", async () => {
    const { runtime, search, ran, denials } = setUp({ agents: "finder", tools: "search" })
    await using _runtime = runtime
    for (const given of [undefined, runtime]) {
      await using inner = team([caller("finder", search)], given, "inner")
      await using outer = team([inner], runtime)
      await outer.run("Go.")
    }
    expect(denials).toMatchObject([{ agent: "inner", name: "search" }])
    expect(ran).toEqual(["search"])
  })
})
