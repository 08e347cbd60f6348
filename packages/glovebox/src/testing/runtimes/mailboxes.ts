import assert from "node:assert/strict"
import { GloveboxError, agentId, topicId, typeSubscription } from "../../core/index.ts"
import { rejectsWith } from "../expectations.ts"
import { type RuntimeSuite, Said, type Stage, latch, say, until } from "./runtime-suite.ts"

export function defineRuntimeMailboxes({ it }: RuntimeSuite): void {
  it("are handled one message at a time, in the order of sending", async (open) => {
    const { away, agent, start } = await open()
    const log: string[] = []
    await agent(
      "a",
      async ({ text }) => {
        log.push(`+${text}`)
        // The first takes the longest, so that order would show if they overlapped.
        for (let turn = Number(text); turn < 5; turn += 1) await Promise.resolve()
        log.push(`-${text}`)
      },
      { subscriptions: [typeSubscription("jobs")] },
    )
    await start()
    const sends: Promise<unknown>[] = [
      away.send(say("1"), agentId("a")),
      away.publish(say("2"), topicId("jobs")),
      away.send(say("3"), agentId("a")),
      away.send(say("4"), agentId("a")),
    ]
    await Promise.all(sends)
    await away.whenIdle()
    assert.deepEqual(log, ["+1", "-1", "+2", "-2", "+3", "-3", "+4", "-4"])
  })

  it("do not hold up other agents", async (open) => {
    const { away, agent, start } = await open()
    const ended = latch()
    await agent("slow", () => ended.opened)
    await agent("quick", () => {})
    await start()
    let isSlowDone = false
    const slow = away.send(say(""), agentId("slow")).then(() => (isSlowDone = true))
    await away.send(say(""), agentId("quick"))
    await away.send(say(""), agentId("quick", "other key"))
    assert.equal(isSlowDone, false)
    ended.open()
    await slow
  })

  it("give as many messages at a time as their agents' concurrency", async (open) => {
    for (const concurrency of [2, Number.POSITIVE_INFINITY]) {
      const { away, agent, start } = await open()
      const ended = latch()
      const atOnce = Math.min(5, concurrency)
      let active = 0
      let most = 0
      await agent(
        "a",
        async () => {
          active += 1
          most = Math.max(most, active)
          await ended.opened
          active -= 1
        },
        { concurrency },
      )
      await start()
      const sends = Array.from({ length: 5 }, () => away.send(say(""), agentId("a")))
      await until(() => most === atOnce)
      ended.open()
      await Promise.all(sends)
      assert.equal(most, atOnce)
    }
  })

  it("that are bounded let messages wait for room, and lose none", async (open) => {
    const stage = await open({ mailbox: { capacity: 2, whenFull: "wait" } })
    const { handled, end } = await full(stage)
    const { away } = stage
    const later = ["3", "4", "5"].map((text) => away.publish(say(text), topicId("jobs")))
    const asked = away.send(say("6"), agentId("a"))
    end()
    await Promise.all([...later, asked])
    await away.whenIdle()
    assert.deepEqual(handled, ["running", "1", "2", "3", "4", "5", "6"])
  })

  it("that are bounded may refuse what does not fit, and only for the agent that is full", async (open) => {
    const stage = await open({ mailbox: { capacity: 2, whenFull: "reject" } })
    const { handled, end } = await full(stage)
    const { away } = stage
    await stage.agent("b", ({ text }) => Said({ text }))
    await rejectsWith(
      away.send(say("3"), agentId("a")),
      "MAILBOX_FULL",
      /2 messages wait for agent a\/default/,
    )
    assert.equal((await away.send(say("4"), agentId("b"), { expect: Said })).text, "4")
    end()
    await away.whenIdle()
    assert.deepEqual(handled, ["running", "1", "2"])
  })

  it("that two agents wait for in each other end with an error or an answer", async (open) => {
    const { away, agent, start } = await open({ mailbox: { capacity: 1 } })
    let published = 0
    const codes = new Set<string>()
    for (const type of ["a", "b"]) {
      await agent(
        type,
        async (_message, _context, self) => {
          for (let index = 0; index < 3 && published < 30; index += 1) {
            published += 1
            await self.publish(say("more"), topicId("jobs")).catch((error: unknown) => {
              codes.add(GloveboxError.is(error) ? error.code : String(error))
            })
          }
        },
        { subscriptions: [typeSubscription("jobs")] },
      )
    }
    await start()
    await away.publish(say("go"), topicId("jobs"))
    await away.whenIdle()
    assert.equal(published, 30)
    assert.deepEqual(
      [...codes].filter((code) => !/^(MAILBOX|QUEUE)_FULL$/.test(code)),
      [],
    )
  })
}

/** An agent that is busy, and whose mailbox has no room for more than two. */
async function full({ away, agent, start }: Stage): Promise<{ handled: string[]; end: () => void }> {
  const handled: string[] = []
  const ended = latch()
  const begun = latch()
  await agent(
    "a",
    async ({ text }) => {
      handled.push(text)
      begun.open()
      await ended.opened
    },
    { subscriptions: [typeSubscription("jobs")] },
  )
  await start()
  await away.publish(say("running"), topicId("jobs"))
  await begun.opened
  await away.publish(say("1"), topicId("jobs"))
  await away.publish(say("2"), topicId("jobs"))
  return { handled, end: ended.open }
}
