import { describe, expect, it } from "vitest"
import { z } from "zod"
import {
  type ToolResult,
  type ToolStreamItem,
  staticWorkbench,
  tool,
  toolResultText,
} from "../../tools/index.ts"
import { hashCall } from "../../tools/hash-call.ts"
import { Redactor, sha256Of } from "../index.ts"
import { GovernedPlace } from "../governance.test-kit.ts"

const SECRET = "tok-9f83hf83hf8h3f8h3f"

const greet = tool({
  name: "greet",
  description: "Greets",
  parameters: z.object({ name: z.string() }),
  execute: ({ name }) => `hello ${name}`,
})
const erase = tool({
  name: "erase",
  description: "Erases",
  parameters: z.object({ path: z.string() }),
  risk: "high",
  approval: true,
  execute: ({ path }) => `erased ${path}`,
})
const leak = tool({
  name: "leak",
  description: "Leaks",
  parameters: z.object({}),
  async *execute() {
    yield `a ${SECRET.slice(0, 7)}`
    yield `${SECRET.slice(7)} b`
    return `it is ${SECRET}`
  },
})

const redaction = new Redactor({ values: [SECRET], environment: false })

describe("a governed workbench", () => {
  it("writes down a call before it, and what came of it", async () => {
    await using place = await GovernedPlace.make()
    const workbench = place.governance.agent("clerk").workbench(staticWorkbench([greet]))
    const result = await workbench.callTool("greet", { name: "Ada" }, { callId: "c1" })
    expect(toolResultText(result)).toBe("hello Ada")
    expect(await place.told()).toEqual(["tool-call intent", "tool-call done"])
    const [intent, done] = await place.records()
    expect(intent).toMatchObject({
      agent: "clerk",
      data: { tool: "greet", argumentsSha256: hashCall("greet", { name: "Ada" }) },
    })
    expect(done?.data).toMatchObject({ isError: false, resultSha256: sha256Of("hello Ada") })
    expect(JSON.stringify([intent, done])).not.toContain("Ada")
  })

  it("asks by the gate, and writes down what was done in place of what was asked for", async () => {
    const edit = { tool: "erase", arguments: { path: "/tmp/b" } }
    await using place = await GovernedPlace.make({
      approval: { provider: () => ({ decision: "edit", payload: edit, by: "ada" }) },
      content: { arguments: true },
    })
    const workbench = place.governance.agent("clerk").workbench(staticWorkbench([erase]))
    expect(toolResultText(await workbench.callTool("erase", { path: "/" }))).toBe("erased /tmp/b")
    expect(await place.told()).toEqual([
      "approval request",
      "approval decision",
      "tool-call intent",
      "tool-call done",
    ])
    const records = await place.records()
    expect(records.at(-1)?.data).toMatchObject({
      risk: "high",
      arguments: { path: "/tmp/b" },
      argumentsSha256: hashCall("erase", { path: "/tmp/b" }),
    })
  })

  it("denies what needs a leave where nobody can give it", async () => {
    await using place = await GovernedPlace.make()
    const workbench = place.governance.agent("clerk").workbench(staticWorkbench([erase]))
    const result = await workbench.callTool("erase", { path: "/" })
    expect(result.isError).toBe(true)
    expect(toolResultText(result)).toContain("not approved")
  })

  it("redacts what a tool tells in pieces, and what it gives", async () => {
    await using place = await GovernedPlace.make({ redaction })
    const workbench = place.governance.agent("clerk").workbench(staticWorkbench([leak]))
    const items: ToolStreamItem[] = []
    for await (const item of workbench.callToolStream("leak")) items.push(item)
    const told = items.map((item) =>
      item.type === "ToolChunk" ? toolResultText({ result: [item.content] }) : "",
    )
    expect(told.join("")).toBe("a [redacted:secret] b")
    expect(toolResultText(items.at(-1) as ToolResult)).toBe("it is [redacted:secret]")
    expect((await place.folder.lines()).join("")).not.toContain(SECRET)
  })

  it("lists and calls what the agent may use, and nothing else", async () => {
    const access = { rules: [{ agents: "clerk", tools: "greet" }] }
    await using place = await GovernedPlace.make({ access })
    const workbench = place.governance.agent("clerk").workbench(staticWorkbench([greet, erase]))
    expect((await workbench.listTools()).map(({ name }) => name)).toEqual(["greet"])
    await expect(workbench.callTool("erase", { path: "/" })).rejects.toMatchObject({ code: "ACCESS_DENIED" })
    expect(await place.told()).toEqual(["access-denied"])
    expect((await place.records())[0]?.data).toMatchObject({ subject: "clerk", target: "tool erase" })
  })

  it("does not call what it could not announce, and does not tell what it could not record", async () => {
    await using place = await GovernedPlace.make({ approval: false })
    let calls = 0
    const count = tool({
      name: "count",
      description: "Counts",
      parameters: z.object({}),
      execute: async () => {
        calls += 1
        await place.governance.close()
        return "done"
      },
    })
    const workbench = place.governance.agent("clerk").workbench(staticWorkbench([count]))
    await expect(workbench.callTool("count")).rejects.toMatchObject({ code: "AUDIT_OUTCOME_LOST" })
    await expect(workbench.callTool("count")).rejects.toMatchObject({ code: "AUDIT_LOG_CLOSED" })
    expect(calls).toBe(1)
  })

  it("writes down how a call failed", async () => {
    await using place = await GovernedPlace.make()
    const broken = tool({
      name: "broken",
      description: "Fails",
      parameters: z.object({}),
      errors: "fatal",
      execute: () => {
        throw new Error(`no ${SECRET}`)
      },
    })
    const workbench = place.governance.agent("clerk").workbench(staticWorkbench([broken]))
    await expect(workbench.callTool("broken")).rejects.toMatchObject({ code: "TOOL_FAILED" })
    expect(await place.told()).toEqual(["tool-call intent", "tool-call failed"])
  })
})
