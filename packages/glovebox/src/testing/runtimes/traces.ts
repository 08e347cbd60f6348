import assert from "node:assert/strict"
import { agentId, topicId, typeSubscription } from "../../core/index.ts"
import { pathOf, recordSpans } from "./recorded-spans.ts"
import { type RuntimeSuite, say } from "./runtime-suite.ts"

export function defineRuntimeTraces({ it }: RuntimeSuite): void {
  it("are one tree of a send and what its handler sends", async (open) => {
    const { provider, spans } = recordSpans()
    const { away, agent, start } = await open({ tracerProvider: provider })
    await agent("hop", async ({ text }, _context, self) => {
      if (text !== "0") await self.send(say("0"), agentId("hop", "0"))
    })
    await start()
    await away.send(say("1"), agentId("hop", "1"))
    const leaf = spans.find(({ name }) => name.endsWith("process hop/0"))
    const path = pathOf(spans, leaf)
    const processed = path.filter((name) => name.startsWith("process"))
    assert.deepEqual(processed, ["process hop/1", "process hop/0"])
    assert.equal(path[0], "create hop/1")
    assert.equal(new Set(spans.map(({ context }) => context.traceId)).size, 1)
  })

  it("go with a publication to those who hear it", async (open) => {
    const { provider, spans } = recordSpans()
    const { away, agent, start } = await open({ tracerProvider: provider })
    for (const type of ["a", "b"]) {
      await agent(type, () => {}, { subscriptions: [typeSubscription("news")] })
    }
    await start()
    await away.publish(say(""), topicId("news", "s"))
    await away.whenIdle()
    for (const type of ["a", "b"]) {
      const leaf = spans.find(({ name }) => name.endsWith(`process ${type}/s`))
      assert.equal(pathOf(spans, leaf)[0], "create news/s")
    }
    assert.equal(new Set(spans.map(({ context }) => context.traceId)).size, 1)
  })

  it("never tell what a message says", async (open) => {
    const { provider, spans } = recordSpans()
    const { away, agent, start } = await open({ tracerProvider: provider })
    await agent("vault", () => {})
    await start()
    await away.send(say("do-not-record"), agentId("vault"))
    assert.ok(spans.length > 0)
    assert.doesNotMatch(JSON.stringify(spans), /do-not-record/)
  })
}
