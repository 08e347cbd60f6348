import assert from "node:assert/strict"
import { GloveboxError, agentId } from "../../core/index.ts"
import { rejectionOf, rejectsWith } from "../expectations.ts"
import { Other, type RuntimeSuite, Said, say, textOf } from "./runtime-suite.ts"

export function defineRuntimeFailures({ it }: RuntimeSuite): void {
  it("of a handler reach the caller with their text, thrown or rejected", async (open) => {
    const { away, agent, start } = await open()
    await agent("bad", ({ text }) => Promise.reject(new Error(text)))
    await agent("worse", ({ text }) => {
      throw new TypeError(text)
    })
    await agent("odd", ({ text }) => Promise.reject(text))
    await start()
    for (const type of ["bad", "worse", "odd"]) {
      const reason = await rejectionOf(away.send(say(`boom of ${type}\nin two lines`), agentId(type)))
      assert.equal(textOf(reason), `boom of ${type}\nin two lines`)
    }
  })

  it("without a text, or of nothing at all, are failures too", async (open) => {
    const { away, agent, start } = await open()
    await agent("mute", ({ text }) => Promise.reject(text === "" ? new Error("") : undefined))
    await start()
    for (const text of ["", "x"]) {
      const outcome = await away.send(say(text), agentId("mute")).then(
        () => "resolved",
        () => "rejected",
      )
      assert.equal(outcome, "rejected")
    }
  })

  it("of Glovebox keep their code", async (open) => {
    const { away, agent, start } = await open()
    await agent("denied", () => Promise.reject(new GloveboxError("ACCESS_DENIED", "Not you.")))
    await start()
    await rejectsWith(away.send(say(""), agentId("denied")), "ACCESS_DENIED", /^Not you\.$/)
  })

  it("pass through an agent in between", async (open) => {
    const { away, agent, start } = await open()
    await agent("end", () => Promise.reject(new GloveboxError("TOOL_FAILED", "It broke.")))
    await agent("middle", async (message, _context, self) => self.send(message, agentId("end")))
    await start()
    await rejectsWith(away.send(say(""), agentId("middle")), "TOOL_FAILED", /^It broke\.$/)
  })

  it("leave the agent able to go on", async (open) => {
    const { away, agent, start } = await open()
    await agent("moody", ({ text }) => (text === "bad" ? Promise.reject(new Error("no")) : Said({ text })))
    await start()
    const sends = ["bad", "1", "bad", "2"].map((text) =>
      away.send(say(text), agentId("moody"), { expect: Said }).then((reply) => reply.text, textOf),
    )
    assert.deepEqual(await Promise.all(sends), ["no", "1", "no", "2"])
    await away.whenIdle()
  })

  it("say which type of agent is not there", async (open) => {
    const { away, agent, start } = await open()
    await agent("echo", () => {})
    await start()
    await rejectsWith(away.send(say(""), agentId("ecko")), "AGENT_TYPE_UNKNOWN", /"?ecko"?/)
  })

  it("are replies of another type than expected, and none where one is", async (open) => {
    const { away, agent, start } = await open()
    await agent("echo", ({ text }) => (text === "" ? undefined : Said({ text })))
    await start()
    const echo = agentId("echo")
    const other = /answered ConformanceSaid where ConformanceOther/
    await rejectsWith(away.send(say("x"), echo, { expect: Other }), "REPLY_INVALID", other)
    await rejectsWith(away.send(say(""), echo, { expect: Other }), "REPLY_INVALID", /answered nothing/)
    await rejectsWith(away.send(say(""), echo, { expect: {} as never }), "MESSAGE_INVALID", /message type/)
  })

  it("are replies that are no message", async (open) => {
    const { away, agent, start } = await open()
    await agent("bad", () => 42 as never)
    await start()
    await rejectsWith(away.send(say(""), agentId("bad")), "REPLY_INVALID", /answered 42/)
  })

  it("of a factory reach everybody who waits, with their text, and it is asked again", async (open) => {
    const { away, register, agent, start } = await open()
    let attempts = 0
    await register("flaky", async () => {
      attempts += 1
      throw new Error(`no luck ${attempts}`)
    })
    await agent("thing", () => {})
    await register("invalid", () => ({}) as never)
    await start()
    const flaky = agentId("flaky", "k")
    const sends = [1, 2].map(async () =>
      rejectsWith(away.send(say(""), flaky), "AGENT_CREATION_FAILED", /flaky\/k.*no luck/),
    )
    await Promise.all(sends)
    const before = attempts
    await rejectsWith(away.send(say(""), flaky), "AGENT_CREATION_FAILED", /no luck/)
    assert.equal(attempts, before + 1)
    await rejectsWith(away.send(say(""), agentId("invalid")), "AGENT_CREATION_FAILED")
    await away.whenIdle()
  })
}
