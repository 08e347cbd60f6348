import assert from "node:assert/strict"
import { AgentProxy, ClosureAgent, type MessageContext, agentId } from "../../core/index.ts"
import { rejectsWith } from "../expectations.ts"
import { type RuntimeSuite, Said, Say, say } from "./runtime-suite.ts"

export function defineRuntimeSends({ it }: RuntimeSuite): void {
  it("gives the handler's reply", async (open) => {
    const { away, agent, start } = await open()
    await agent("echo", ({ text }) => Said({ text }))
    await start()
    const reply = await away.send(say("hi"), agentId("echo", "1"), { expect: Said })
    assert.equal(reply.text, "hi")
    assert.ok(Said.is(await away.send(say("hi"), agentId("echo", "1"))))
  })

  it("gives undefined when the handler returns nothing", async (open) => {
    const { away, agent, start } = await open()
    await agent("quiet", () => {})
    await start()
    assert.equal(await away.send(say(""), agentId("quiet")), undefined)
  })

  it("reaches agents that were registered after the start", async (open) => {
    const { away, agent, start } = await open()
    await start()
    await agent("late", ({ text }) => Said({ text }))
    assert.equal((await away.send(say("x"), agentId("late"), { expect: Said })).text, "x")
  })

  it("waits for the start when it comes before", async (open) => {
    const { home, agent, start } = await open()
    await agent("echo", ({ text }) => Said({ text }))
    const reply = home.send(say("early"), agentId("echo"), { expect: Said })
    await start()
    assert.equal((await reply).text, "early")
  })

  it("keeps a conversation of two agents apart by their keys", async (open) => {
    const { away, register, start } = await open()
    await register("counter", () => {
      let count = 0
      return new ClosureAgent([Say], (_message, _context, { id }) => {
        count += 1
        return Said({ text: `${id.key}${count}` })
      })
    })
    await start()
    const ask = async (key: string): Promise<string> =>
      (await away.send(say(""), agentId("counter", key), { expect: Said })).text
    assert.deepEqual(
      [await ask("a"), await ask("b"), await ask("a"), await ask("ä/ö 1")],
      ["a1", "b1", "a2", "ä/ö 11"],
    )
  })

  it("tells the handler who sent, that it is awaited, and under which id", async (open) => {
    const { away, agent, start } = await open()
    const seen: Pick<MessageContext, "sender" | "messageId" | "isRpc" | "topicId">[] = []
    await agent("watch", (_message, { sender, messageId, isRpc, topicId }) => {
      seen.push({ sender, messageId, isRpc, topicId })
    })
    await start()
    const sender = agentId("caller", "c")
    await away.send(say(""), agentId("watch"), { sender, messageId: "m-1" })
    await away.send(say(""), agentId("watch"))
    assert.deepEqual(seen[0], { sender, messageId: "m-1", isRpc: true, topicId: undefined })
    assert.equal(seen[1]?.sender, undefined)
    assert.ok(seen[1]?.messageId)
  })

  it("of an agent names that agent as the sender", async (open) => {
    const { away, agent, start } = await open()
    await agent("asked", (_message, { sender }) => Said({ text: `${sender?.type}/${sender?.key}` }))
    await agent("asker", async (_message, _context, self) => self.send(say(""), agentId("asked")))
    await start()
    assert.equal((await away.send(say(""), agentId("asker", "k"), { expect: Said })).text, "asker/k")
  })

  it("can be a thousand at once, each with its own reply", async (open) => {
    const { away, agent, start } = await open()
    await agent("echo", ({ text }) => Said({ text }))
    await start()
    const sends = Array.from({ length: 1_000 }, (_, index) =>
      away.send(say(`${index}`), agentId("echo", `${index % 10}`), { expect: Said }),
    )
    assert.deepEqual(
      (await Promise.all(sends)).map(({ text }) => text),
      Array.from({ length: 1_000 }, (_, index) => `${index}`),
    )
  })

  it("refuses what is no message, no agent id, no sender, no signal and no time", async (open) => {
    const { away, agent, start } = await open()
    await agent("echo", ({ text }) => Said({ text }))
    await start()
    const echo = agentId("echo")
    await rejectsWith(away.send({ text: "plain" } as never, echo), "MESSAGE_INVALID", /defineMessage/)
    for (const id of [undefined, "echo", {}, { type: "echo" }, { type: "a b", key: "k" }]) {
      await rejectsWith(away.send(say(""), id as never), "AGENT_ID_INVALID")
    }
    const sender = { type: "no slash/", key: "k" }
    await rejectsWith(away.send(say(""), echo, { sender }), "AGENT_ID_INVALID")
    for (const signal of [{}, 5, "abort"]) {
      await rejectsWith(away.send(say(""), echo, { signal: signal as never }), "OPTION_INVALID")
    }
    for (const timeoutMs of [0, -1, Number.NaN, "5"]) {
      await rejectsWith(away.send(say(""), echo, { timeoutMs: timeoutMs as never }), "OPTION_INVALID")
    }
    assert.equal((await away.send(say("fine"), echo, { expect: Said })).text, "fine")
  })

  it("goes through a proxy of an agent too", async (open) => {
    const { away, register, start } = await open()
    await register(
      "echo",
      () => new ClosureAgent([Say], ({ text }) => Said({ text }), { description: "Echoes." }),
    )
    await start()
    const proxy = new AgentProxy(agentId("echo", "p"), away)
    assert.equal((await proxy.send(say("via"), { expect: Said })).text, "via")
    assert.deepEqual(await proxy.metadata(), { type: "echo", key: "p", description: "Echoes." })
  })
}
