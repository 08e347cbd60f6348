import { describe, expect, it } from "vitest"
import { z } from "zod"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import {
  type AccessGuard,
  type Agent,
  ClosureAgent,
  SingleThreadedAgentRuntime,
  agentId,
  defineMessage,
  topicId,
  typeSubscription,
} from "../../core/index.ts"
import { tool } from "../../tools/index.ts"
import { ToolAccess } from "./index.ts"

const Go = defineMessage("Go", z.object({}))

/** Tools that write down when they are run. */
function tools(): { readonly ran: string[]; readonly use: (name: string) => Promise<void> } {
  const ran: string[] = []
  const use = async (name: string): Promise<void> => {
    await tool({ name, description: name, execute: () => void ran.push(name) }).run({})
  }
  return { ran, use }
}

const guardOf = (agents: string, ...names: string[]): ToolAccess =>
  new ToolAccess({ rules: [{ agents, tools: names }] })

/** Runs code in a handler of an agent of this type. */
async function asAgent(
  type: string,
  access: AccessGuard | undefined,
  work: () => Promise<void>,
): Promise<void> {
  await using runtime = new SingleThreadedAgentRuntime({ access })
  await runtime.register(type, () => new ClosureAgent([Go], work))
  runtime.start()
  await runtime.send(Go({}), agentId(type))
}

describe("a runtime with access rules", () => {
  it("binds what an agent's handler calls, also later in it", async () => {
    const { ran, use } = tools()
    await asAgent("finder", guardOf("finder", "search"), async () => {
      await use("search")
      await new Promise((resolve) => setImmediate(resolve))
      await expectFailure(use("delete"), "ACCESS_DENIED", /"finder".*"delete"/)
      await expectFailure(Promise.all([use("search"), use("delete")]), "ACCESS_DENIED")
    })
    await expectFailure(
      asAgent("coder", guardOf("finder", "search"), () => use("search")),
      "ACCESS_DENIED",
    )
    expect(ran).toEqual(["search", "search"])
  })

  it("leaves alone what no agent of it does", async () => {
    const { ran, use } = tools()
    await asAgent("finder", guardOf("finder", "search"), () => use("search"))
    await use("delete")
    await asAgent("coder", undefined, () => use("delete"))
    expect(ran).toEqual(["search", "delete", "delete"])
  })

  it("is asked before arguments are looked at and approvals are asked for", async () => {
    const seen: string[] = []
    const careful = tool({
      name: "careful",
      description: "careful",
      parameters: z.object({ path: z.string().refine((path) => seen.push(path)) }),
      approval: true,
      execute: () => seen.push("ran"),
    })
    const approve = () => ({ approved: seen.push("asked") > 0 })
    const work = async (): Promise<void> => void (await careful.run({ path: "x" }, { approve }))
    await expectFailure(asAgent("a", guardOf("b", "*"), work), "ACCESS_DENIED")
    expect(seen).toEqual([])
    await asAgent("b", guardOf("b", "*"), work)
    expect(seen).toEqual(["x", "asked", "ran"])
  })

  it("binds published messages and factories too", async () => {
    const { ran, use } = tools()
    const failures: unknown[] = []
    const note = (error: unknown): void => void failures.push(error)
    await using runtime = new SingleThreadedAgentRuntime({ access: guardOf("a", "x") })
    const make = async (): Promise<Agent> => {
      await use("made").catch(note)
      return new ClosureAgent([Go], () => use("heard").catch(note))
    }
    await runtime.register("a", make, { subscriptions: [typeSubscription("t", "a")] })
    // Built by a message, and by nobody's.
    await runtime.agentMetadata(agentId("a", "early"))
    runtime.start()
    await runtime.publish(Go({}), topicId("t", "late"))
    await runtime.whenIdle()
    expect(failures).toMatchObject([
      { code: "ACCESS_DENIED" },
      { code: "ACCESS_DENIED" },
      { code: "ACCESS_DENIED" },
    ])
    expect(ran).toEqual([])
  })

  it("binds agents of runtimes that its agents use, by the name of who uses them", async () => {
    const { ran, use } = tools()
    const inner = async (): Promise<void> => asAgent("inner", undefined, () => use("search"))
    await asAgent("outer", guardOf("outer", "search"), inner)
    await expectFailure(asAgent("other", guardOf("outer", "search"), inner), "ACCESS_DENIED", /"other"/)
    expect(ran).toEqual(["search"])
  })

  it("does not let an inner runtime's own rules allow more than the outer ones", async () => {
    const { ran, use } = tools()
    const inner = guardOf("inner", "search", "delete")
    const outer = guardOf("outer", "search")
    const nested = async (name: string): Promise<void> =>
      asAgent("outer", outer, () => asAgent("inner", inner, () => use(name)))
    await nested("search")
    await expectFailure(nested("delete"), "ACCESS_DENIED", /"outer"/)
    await expectFailure(
      asAgent("outer", guardOf("*", "*"), () => asAgent("stranger", inner, () => use("search"))),
      "ACCESS_DENIED",
      /"stranger"/,
    )
    expect(ran).toEqual(["search"])
  })

  it("knows each agent by its own name where they share the rules", async () => {
    const { ran, use } = tools()
    await using runtime = new SingleThreadedAgentRuntime({ access: guardOf("worker", "search") })
    await runtime.register("worker", () => new ClosureAgent([Go], () => use("search")))
    await runtime.register(
      "boss",
      () =>
        new ClosureAgent([Go], async () => {
          await expectFailure(use("search"), "ACCESS_DENIED")
          await runtime.send(Go({}), agentId("worker"))
        }),
    )
    runtime.start()
    await runtime.send(Go({}), agentId("boss"))
    expect(ran).toEqual(["search"])
  })

  it("refuses what is no guard", () => {
    for (const access of [null, {}, { rules: [] }]) {
      const refusal = failureOf(() => new SingleThreadedAgentRuntime({ access: access as never }))
      expect(refusal).toMatch(/^OPTION_INVALID: access is/)
    }
  })
})
