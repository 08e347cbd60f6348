import { describe, expect, it } from "vitest"
import { z } from "zod"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import { gate } from "../../../core/gate.test-kit.ts"
import { type AgentId, agentId } from "../../../core/index.ts"
import { ApprovalGate } from "../../../governance/approval/index.ts"
import { ReplayChatCompletionClient } from "../../../models/replay/index.ts"
import { Clerk, approve, lines } from "../../clerk.test-kit.ts"
import {
  ModelClientStreamingChunkEvent,
  ThoughtEvent,
  defineChatMessage,
  toText,
} from "../../messages/index.ts"
import { ScriptedAgent, untilAborted } from "../../scripted-agent.test-kit.ts"
import { RoundRobinGroupChat } from "../../teams/index.ts"
import type { OpenTeamPlace, TeamPlace } from "../../teams/teams-on-a-runtime.test-kit.ts"
import { AssistantAgent } from "../assistant/index.ts"
import type { ChatAgent } from "../chat-agent.ts"
import { RemoteChatAgent, serveChatAgent } from "./index.ts"

const FAR = agentId("far", "1")
const Order = defineChatMessage("FarOrder", { item: z.string() }, { toText: ({ item }) => `Bring ${item}.` })

/** A team of an agent elsewhere and one here. */
async function mixed(
  { runtime, far }: TeamPlace,
  make: (id: AgentId) => ChatAgent,
  maxTurns = 2,
): Promise<{ readonly team: RoundRobinGroupChat; readonly remote: RemoteChatAgent }> {
  await serveChatAgent(far, "far", make)
  const remote = new RemoteChatAgent({ name: "far", description: "Far away.", runtime, agentId: FAR })
  const participants = [remote, new ScriptedAgent("near")]
  return { remote, team: new RoundRobinGroupChat({ participants, maxTurns, runtime }) }
}

/** The tests that agents elsewhere pass wherever they live. */
export function describeRemoteAgentsOn(name: string, open: OpenTeamPlace): void {
  describe(`agents elsewhere, on ${name}`, () => {
    it("are in a team like others, and tell what happens as it happens", async () => {
      await using place = await open()
      const shown = gate()
      const agent = new ScriptedAgent("far", async ({ turn }) => (await shown.promise, `far${turn}`), {
        events: () => [
          ThoughtEvent({ content: "hm", source: "far" }),
          ModelClientStreamingChunkEvent({ content: "piece", source: "far" }),
        ],
      })
      const { team, remote } = await mixed(place, () => agent, 3)
      const told: string[] = []
      for await (const item of team.runStream("hi")) {
        if (item.type === "TaskResult") continue
        told.push(`${item.type} ${item.source}: ${toText(item)}`)
        // It speaks when the reader has seen what happened before.
        if (item.type === "ModelClientStreamingChunkEvent") shown.open()
      }
      const events = ["ThoughtEvent far: hm", "ModelClientStreamingChunkEvent far: piece"]
      expect(told).toEqual([
        "TextMessage user: hi",
        ...events,
        "TextMessage far: far1",
        "TextMessage near: near1",
        ...events,
        "TextMessage far: far2",
      ])
      expect(agent.heard).toEqual([["hi"], ["near1"]])
      await team.close()
      await remote.close()
      await remote.close()
    })

    it("stop when the run does, with the words of its reason, and go on after it", async () => {
      await using place = await open()
      const controller = new AbortController()
      const reason = new Error("enough")
      const stopped = gate()
      let why = ""
      const agent = new ScriptedAgent("far", async (context) => {
        if (context.turn > 1) return "again"
        context.signal.addEventListener("abort", () => {
          why = String(context.signal.reason)
          stopped.open()
        })
        return untilAborted(() => controller.abort(reason))(context)
      })
      const { team } = await mixed(place, () => agent, 1)
      await using _ = team
      await expect(team.run("hi", { signal: controller.signal })).rejects.toBe(reason)
      await stopped.promise
      expect(why).toContain("enough")
      expect(lines(await team.run("next"))).toEqual(["user: next", "far: again"])
    })

    it("fail in words, and typed where they are not there", async () => {
      await using place = await open()
      const { team } = await mixed(
        place,
        () => new ScriptedAgent("far", () => Promise.reject(new Error("no such file"))),
      )
      await using _ = team
      await expectFailure(team.run("hi"), "AGENT_FAILED", /^far failed in its turn: no such file$/)
      const { runtime } = place
      const nobody = new RemoteChatAgent({ name: "nobody", runtime, agentId: agentId("nobody") })
      await expectFailure(nobody.run("hi"), "AGENT_TYPE_UNKNOWN", /nobody/)
      await nobody.close()
    })

    it("wait for approvals, and go on when they are given", async () => {
      await using place = await open()
      const approvals = new ApprovalGate({ suspend: true })
      const ledger: string[] = []
      const { team } = await mixed(place, () => new Clerk("far", approvals, (line) => ledger.push(line)))
      await using _ = team
      const begun = await team.run("tidy up")
      expect(begun).toMatchObject({ stopKind: "suspended", pending: [expect.any(String)] })
      expect(lines(begun)).toEqual(["user: tidy up", "far: far has a plan"])
      approve(approvals, begun)
      expect(lines(await team.run())).toEqual(["far: far did it", "near: near1"])
      expect(ledger).toEqual(["far thinks of tidy up", "far acts"])
    })

    it("are paused, reset, saved and loaded with their team", async () => {
      await using place = await open()
      const agent = new ScriptedAgent("far")
      const { team } = await mixed(place, () => agent)
      await using _ = team
      await team.run("one")
      const state = await team.saveState()
      expect(state).toMatchObject({ participants: { far: { turn: 1 } } })
      await team.reset()
      await team.pause()
      await team.resume()
      expect(agent.calls).toEqual(["reset", "pause", "resume"])
      expect(lines(await team.run("two"))).toEqual(["user: two", "far: far1", "near: near1"])
      await team.loadState(state)
      expect(lines(await team.run("three"))).toEqual(["user: three", "far: far2", "near: near2"])
    })

    it("have a conversation for each key, with a model and usage of their own", async () => {
      await using place = await open()
      const { runtime, far } = place
      await serveChatAgent(
        far,
        "writer",
        ({ key }) =>
          new AssistantAgent({
            name: "writer",
            modelClient: new ReplayChatCompletionClient([`${key} one`, `${key} two`]),
            modelClientStream: true,
          }),
      )
      const writer = (key: string): RemoteChatAgent =>
        new RemoteChatAgent({ name: "writer", runtime, agentId: agentId("writer", key) })
      await using a = writer("a")
      await using b = writer("b")
      const first = await a.run("hi")
      expect(lines(first)).toEqual(["user: hi", "writer: a one"])
      expect(first.usage.completionTokens).toBeGreaterThan(0)
      expect(lines(await b.run("hi"))).toEqual(["user: hi", "writer: b one"])
      expect(lines(await a.run("more"))).toEqual(["user: more", "writer: a two"])
    })

    it("say and hear messages of one's own types that both ends name", async () => {
      await using place = await open()
      const { runtime, far } = place
      const seen: unknown[] = []
      const customMessageTypes = [Order]
      const make = (): ScriptedAgent =>
        new ScriptedAgent("waiter", ({ heard }) => {
          seen.push(...heard)
          return Order({ source: "waiter", item: "tea" }) as never
        })
      await serveChatAgent(far, "waiter", make, { customMessageTypes })
      const options = { name: "waiter", runtime, agentId: agentId("waiter"), customMessageTypes }
      await using waiter = new RemoteChatAgent(options)
      const result = await waiter.run(Order({ source: "user", item: "milk" }))
      expect(lines(result)).toEqual(["user: Bring milk.", "waiter: Bring tea."])
      expect(seen).toHaveLength(1)
      expect(Order.is(seen[0])).toBe(true)
    })
  })
}
