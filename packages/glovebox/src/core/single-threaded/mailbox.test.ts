import { describe, expect, it } from "vitest"
import { z } from "zod"
import {
  ClosureAgent,
  RoutedAgent,
  SingleThreadedAgentRuntime,
  agentId,
  defineMessage,
  silentLogger,
  topicId,
  typeSubscription,
} from "../index.ts"
import { expectFailure } from "../expect-failure.test-kit.ts"
import { gate } from "../gate.test-kit.ts"

const Job = defineMessage("Job", z.object({ name: z.string().default("") }))
const Done = defineMessage("Done", z.object({ name: z.string() }))
const job = (name: string): ReturnType<typeof Job> => Job({ name })

describe("a mailbox", () => {
  it("is handled one message at a time, in the order of sending", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    const log: string[] = []
    await runtime.register(
      "a",
      () =>
        new ClosureAgent([Job], async ({ name }) => {
          log.push(`+${name}`)
          // The first takes the longest, so that order would show if they overlapped.
          for (let turn = Number(name); turn < 5; turn += 1) await Promise.resolve()
          log.push(`-${name}`)
        }),
      { subscriptions: [typeSubscription("jobs")] },
    )
    runtime.start()
    const sends = [runtime.send(job("1"), agentId("a")), runtime.publish(job("2"), topicId("jobs"))]
    sends.push(runtime.send(job("3"), agentId("a")), runtime.send(job("4"), agentId("a")))
    await Promise.all(sends)
    await runtime.stopWhenIdle()
    expect(log).toEqual(["+1", "-1", "+2", "-2", "+3", "-3", "+4", "-4"])
  })

  it("does not hold up other agents", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    const ended = gate()
    await runtime.register("slow", () => new ClosureAgent([Job], () => ended.promise))
    await runtime.register("quick", () => new ClosureAgent([Job], () => {}))
    runtime.start()
    const slow = runtime.send(Job({}), agentId("slow"))
    await runtime.send(Job({}), agentId("quick"))
    await runtime.send(Job({}), agentId("quick", "other key"))
    expect(await Promise.race([slow, Promise.resolve("still busy")])).toBe("still busy")
    ended.open()
    await slow
  })

  it.each([2, Number.POSITIVE_INFINITY])(
    "handles up to its concurrency of %d at once",
    async (concurrency) => {
      await using runtime = new SingleThreadedAgentRuntime()
      const ended = gate()
      let active = 0
      let most = 0
      await runtime.register(
        "a",
        () =>
          new ClosureAgent([Job], async () => {
            active += 1
            most = Math.max(most, active)
            await ended.promise
            active -= 1
          }),
        { concurrency },
      )
      runtime.start()
      const sends = Array.from({ length: 5 }, () => runtime.send(Job({}), agentId("a")))
      await new Promise(setImmediate)
      expect(most).toBe(Math.min(5, concurrency))
      ended.open()
      await Promise.all(sends)
      expect(most).toBe(Math.min(5, concurrency))
    },
  )
})

describe("requests in a circle", () => {
  class Relay extends RoutedAgent {
    constructor(log: string[], route: Record<string, string>) {
      super("Passes a job on.")
      this.on(Job, async ({ name }) => {
        log.push(`${this.id.type}<${name}`)
        const next = route[`${this.id.type}<${name}`]
        if (next !== undefined) await this.send(job(next), agentId(next.split(":")[1] ?? ""))
        log.push(`${this.id.type}>${name}`)
        return Done({ name })
      })
    }
  }

  async function relays(
    route: Record<string, string>,
  ): Promise<{ runtime: SingleThreadedAgentRuntime; log: string[] }> {
    const runtime = new SingleThreadedAgentRuntime()
    const log: string[] = []
    for (const type of ["a", "b", "c"]) await runtime.register(type, () => new Relay(log, route))
    runtime.start()
    return { runtime, log }
  }

  it("to the agent itself are answered", async () => {
    const { runtime, log } = await relays({ "a<start": "again:a" })
    await using _ = runtime
    await runtime.send(job("start"), agentId("a"))
    expect(log).toEqual(["a<start", "a<again:a", "a>again:a", "a>start"])
  })

  it("back to an agent that waits are answered ahead of what waits there", async () => {
    const { runtime, log } = await relays({ "a<start": "1:b", "b<1:b": "2:c", "c<2:c": "3:a" })
    await using _ = runtime
    const start = runtime.send(job("start"), agentId("a"))
    const other = runtime.send(job("other"), agentId("a"))
    await Promise.all([start, other])
    expect(log).toEqual([
      "a<start",
      "b<1:b",
      "c<2:c",
      "a<3:a",
      "a>3:a",
      "c>2:c",
      "b>1:b",
      "a>start",
      "a<other",
      "a>other",
    ])
  })

  it("that meet half-way are answered too", async () => {
    // Each agent waits for the other, and each request waits behind the other's first.
    const { runtime, log } = await relays({ "a<start": "x:b", "b<start": "y:a" })
    await using _ = runtime
    await Promise.all([runtime.send(job("start"), agentId("a")), runtime.send(job("start"), agentId("b"))])
    expect(log.filter((line) => line.includes("<")).toSorted()).toEqual([
      "a<start",
      "a<y:a",
      "b<start",
      "b<x:b",
    ])
    await runtime.stopWhenIdle()
  })

  it("do not let strangers in between", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    const log: string[] = []
    const ended = gate()
    await runtime.register("helper", () => new ClosureAgent([Job], () => ended.promise))
    await runtime.register(
      "a",
      () =>
        new ClosureAgent([Job], async ({ name }, _context, agent) => {
          log.push(`+${name}`)
          if (name === "first") await agent.send(job("help"), agentId("helper"))
          log.push(`-${name}`)
        }),
    )
    // Another agent asks while the first request waits for its helper: it is no part of that circle.
    await runtime.register(
      "stranger",
      () =>
        new ClosureAgent(
          [Job],
          async (_m, _c, agent) => void (await agent.send(job("second"), agentId("a"))),
        ),
    )
    runtime.start()
    const sends = [runtime.send(job("first"), agentId("a")), runtime.send(job("go"), agentId("stranger"))]
    await new Promise(setImmediate)
    ended.open()
    await Promise.all(sends)
    expect(log).toEqual(["+first", "-first", "+second", "-second"])
  })

  it("are answered when all places of a concurrent agent wait for it", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    await runtime.register(
      "pool",
      () =>
        new ClosureAgent([Job], async ({ name }, _context, agent) => {
          if (name === "outer") await agent.send(job("inner"), agent.id)
          return Done({ name })
        }),
      { concurrency: 2 },
    )
    runtime.start()
    const sends = Array.from({ length: 6 }, () =>
      runtime.send(job("outer"), agentId("pool"), { timeoutMs: 2_000 }),
    )
    expect(await Promise.all(sends)).toHaveLength(6)
  })
})

describe("a bounded mailbox", () => {
  async function bounded(whenFull: "wait" | "reject"): Promise<{
    runtime: SingleThreadedAgentRuntime
    handled: string[]
    end: () => void
  }> {
    const runtime = new SingleThreadedAgentRuntime({
      mailbox: { capacity: 2, whenFull },
      logger: silentLogger,
    })
    const handled: string[] = []
    const ended = gate()
    const begun = gate()
    await runtime.register(
      "a",
      () =>
        new ClosureAgent([Job], async ({ name }) => {
          handled.push(name)
          begun.open()
          await ended.promise
        }),
      { subscriptions: [typeSubscription("jobs")] },
    )
    await runtime.register("b", () => new ClosureAgent([Job], ({ name }) => void handled.push(`b:${name}`)), {
      subscriptions: [typeSubscription("jobs")],
      mailbox: { capacity: 100 },
    })
    runtime.start()
    await runtime.publish(job("running"), topicId("jobs"))
    await begun.promise
    await runtime.publish(job("1"), topicId("jobs"))
    await runtime.publish(job("2"), topicId("jobs"))
    return { runtime, handled, end: ended.open }
  }

  it("lets publishers wait for room, in order", async () => {
    const { runtime, handled, end } = await bounded("wait")
    await using _ = runtime
    let accepted = 0
    const publications = ["3", "4"].map((name) =>
      runtime.publish(job(name), topicId("jobs")).then(() => (accepted += 1)),
    )
    await new Promise(setImmediate)
    expect(accepted).toBe(0)
    end()
    await Promise.all(publications)
    await runtime.stopWhenIdle()
    expect(handled.filter((name) => !name.startsWith("b:"))).toEqual(["running", "1", "2", "3", "4"])
  })

  it("refuses what does not fit, and only for the agent that is full", async () => {
    const { runtime, handled, end } = await bounded("reject")
    await using _ = runtime
    await expectFailure(
      runtime.publish(job("3"), topicId("jobs")),
      "MAILBOX_FULL",
      /2 messages wait for agent a\/default/,
    )
    await expectFailure(runtime.send(job("4"), agentId("a")), "MAILBOX_FULL")
    end()
    await runtime.stopWhenIdle()
    expect(handled).toContain("b:3")
    expect(handled.filter((name) => !name.startsWith("b:"))).toEqual(["running", "1", "2"])
  })

  it("gives the place of a withdrawn message to the next", async () => {
    const { runtime, handled, end } = await bounded("wait")
    await using _ = runtime
    const controller = new AbortController()
    const third = runtime.publish(job("3"), topicId("jobs"), { signal: controller.signal })
    const fourth = runtime.publish(job("4"), topicId("jobs"))
    controller.abort(new Error("withdrawn"))
    await expect(third).rejects.toThrow("withdrawn")
    end()
    await fourth
    await runtime.stopWhenIdle()
    expect(handled.filter((name) => !name.startsWith("b:"))).toEqual(["running", "1", "2", "4"])
  })

  it("answers waiting publishers when the runtime stops", async () => {
    const { runtime, end } = await bounded("wait")
    const third = runtime.publish(job("3"), topicId("jobs"))
    const stopped = runtime.stop()
    await expectFailure(third, "RUNTIME_STOPPED")
    end()
    await stopped
    await runtime.close()
  })

  it("refuses to let two agents wait for each other's room for ever", async () => {
    const runtime = new SingleThreadedAgentRuntime({ mailbox: { capacity: 1 }, logger: silentLogger })
    await using _ = runtime
    const refusals: unknown[] = []
    const chatter = (): ClosureAgent<[typeof Job]> =>
      new ClosureAgent([Job], async (_message, _context, agent) => {
        for (let index = 0; index < 3; index += 1) {
          await agent.publish(job("more"), topicId("jobs")).catch((error: unknown) => refusals.push(error))
        }
        if (refusals.length > 10) await runtime.stop()
      })
    await runtime.register("a", chatter, { subscriptions: [typeSubscription("jobs")] })
    await runtime.register("b", chatter, { subscriptions: [typeSubscription("jobs")] })
    runtime.start()
    await runtime.publish(job("go"), topicId("jobs"))
    await runtime.stopWhen(() => refusals.length > 10, { signal: AbortSignal.timeout(3_000) })
    expect(refusals.length).toBeGreaterThan(10)
    for (const error of refusals) expect(codeOf(error)).toMatch(/MAILBOX_FULL|RUNTIME_STOPPED/)
  })

  it.each([{ capacity: 0 }, { capacity: 1.5 }, { capacity: -1 }, { whenFull: "drop" }])(
    "refuses %j as its options",
    async (mailbox) => {
      const options = { mailbox: mailbox as { capacity: number } }
      expect(() => new SingleThreadedAgentRuntime(options)).toThrow(
        expect.objectContaining({ code: "OPTION_INVALID" }),
      )
      await using runtime = new SingleThreadedAgentRuntime()
      await expectFailure(
        runtime.register("a", () => new ClosureAgent([], () => {}), options),
        "OPTION_INVALID",
      )
    },
  )
})

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined
}
