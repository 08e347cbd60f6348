import { describe, expect, it } from "vitest"
import { z } from "zod"
import {
  ClosureAgent,
  type MessageContext,
  SingleThreadedAgentRuntime,
  agentId,
  defineMessage,
  silentLogger,
  topicId,
  typeSubscription,
} from "../index.ts"
import { expectFailure } from "../expect-failure.test-kit.ts"
import { gate } from "../gate.test-kit.ts"

const Work = defineMessage("Work", z.object({ name: z.string().default("") }))

/** An agent that handles one message at a time, each until the test lets it end. */
async function worker(): Promise<{
  runtime: SingleThreadedAgentRuntime
  started: string[]
  contexts: MessageContext[]
  begun: Promise<void>
  end: () => void
}> {
  const runtime = new SingleThreadedAgentRuntime({ logger: silentLogger })
  const started: string[] = []
  const contexts: MessageContext[] = []
  const begun = gate()
  const ended = gate()
  await runtime.register(
    "worker",
    () =>
      new ClosureAgent([Work], async ({ name }, context) => {
        started.push(name)
        contexts.push(context)
        begun.open()
        await ended.promise
      }),
    { subscriptions: [typeSubscription("work")] },
  )
  runtime.start()
  return { runtime, started, contexts, begun: begun.promise, end: ended.open }
}

describe("a signal", () => {
  it("that is aborted already sends nothing", async () => {
    const { runtime, started } = await worker()
    await using _ = runtime
    const signal = AbortSignal.abort(new Error("too late"))
    await expect(runtime.send(Work({}), agentId("worker"), { signal })).rejects.toThrow("too late")
    await expect(runtime.publish(Work({}), topicId("work"), { signal })).rejects.toThrow("too late")
    await runtime.whenIdle()
    expect(started).toEqual([])
  })

  it("withdraws a message that waits, so that its handler never runs", async () => {
    const { runtime, started, begun, end } = await worker()
    await using _ = runtime
    const first = runtime.send(Work({ name: "first" }), agentId("worker"))
    await begun
    const controller = new AbortController()
    const second = runtime.send(Work({ name: "second" }), agentId("worker"), { signal: controller.signal })
    const third = runtime.send(Work({ name: "third" }), agentId("worker"))
    controller.abort(new Error("enough"))
    await expect(second).rejects.toThrow("enough")
    end()
    await Promise.all([first, third])
    await runtime.stopWhenIdle()
    expect(started).toEqual(["first", "third"])
  })

  it("withdraws a message before its agent is built, and before the runtime is started", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    let handled = 0
    await runtime.register("late", async () => {
      await Promise.resolve()
      return new ClosureAgent([Work], () => void (handled += 1))
    })
    const controller = new AbortController()
    const sent = runtime.send(Work({}), agentId("late"), { signal: controller.signal })
    controller.abort(new Error("gone"))
    await expect(sent).rejects.toThrow("gone")
    runtime.start()
    await runtime.stopWhenIdle()
    expect(handled).toBe(0)
  })

  it("answers the caller of a running handler at once, and tells the handler why", async () => {
    const { runtime, contexts, begun, end } = await worker()
    await using _ = runtime
    const controller = new AbortController()
    const sent = runtime.send(Work({}), agentId("worker"), { signal: controller.signal })
    await begun
    const reason = new Error("changed my mind")
    controller.abort(reason)
    await expect(sent).rejects.toBe(reason)
    expect(contexts[0]?.signal.aborted).toBe(true)
    expect(contexts[0]?.signal.reason).toBe(reason)
    end()
    await runtime.stopWhenIdle()
  })

  it("reaches a handler that asked for its own signal before", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    const begun = gate()
    await runtime.register(
      "watcher",
      () =>
        new ClosureAgent([Work], async (_message, { signal }) => {
          begun.open()
          await new Promise((resolve) => signal.addEventListener("abort", resolve))
          signal.throwIfAborted()
        }),
    )
    runtime.start()
    const controller = new AbortController()
    const sent = runtime.send(Work({}), agentId("watcher"), { signal: controller.signal })
    await begun.promise
    controller.abort(new Error("stop it"))
    await expect(sent).rejects.toThrow("stop it")
    await runtime.stopWhenIdle()
  })

  it("withdraws a publication from agents that have not begun, and tells the others", async () => {
    const { runtime, started, contexts, begun, end } = await worker()
    await using _ = runtime
    const controller = new AbortController()
    const { signal } = controller
    await runtime.publish(Work({ name: "running" }), topicId("work"), { signal })
    await begun
    await runtime.publish(Work({ name: "waiting" }), topicId("work"), { signal })
    controller.abort(new Error("retracted"))
    expect(contexts[0]?.signal.reason).toEqual(new Error("retracted"))
    end()
    await runtime.stopWhenIdle()
    expect(started).toEqual(["running"])
  })

  it("that a caller keeps does not collect listeners", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    await runtime.register("quick", () => new ClosureAgent([Work], () => {}), {
      subscriptions: [typeSubscription("work")],
    })
    runtime.start()
    const { signal } = new AbortController()
    let listeners = 0
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args))
    signal.removeEventListener = (...args: Parameters<typeof remove>) => (listeners--, remove(...args))
    await runtime.send(Work({}), agentId("quick"), { signal })
    await runtime.publish(Work({}), topicId("work"), { signal })
    await runtime.publish(Work({}), topicId("nobody"), { signal })
    await runtime.stopWhenIdle()
    expect(listeners).toBe(0)
  })
})

describe("a deadline", () => {
  it("ends a send whose handler takes too long", async () => {
    const { runtime, contexts, end } = await worker()
    await using _ = runtime
    const sent = runtime.send(Work({}), agentId("worker"), { timeoutMs: 5 })
    await expectFailure(sent, "SEND_TIMEOUT", /worker\/default gave no reply within 5 ms/)
    expect(contexts[0]?.signal.reason).toMatchObject({ code: "SEND_TIMEOUT" })
    end()
    await runtime.stopWhenIdle()
  })

  it("ends a send that still waits, whose handler then never runs", async () => {
    const { runtime, started, begun, end } = await worker()
    await using _ = runtime
    const first = runtime.send(Work({ name: "first" }), agentId("worker"))
    await begun
    await expectFailure(
      runtime.send(Work({ name: "x" }), agentId("worker"), { timeoutMs: 5 }),
      "SEND_TIMEOUT",
    )
    end()
    await first
    await runtime.stopWhenIdle()
    expect(started).toEqual(["first"])
  })

  it("is the runtime's own where the send sets none", async () => {
    await using runtime = new SingleThreadedAgentRuntime({ sendTimeoutMs: 5 })
    await runtime.register("never", () => new ClosureAgent([Work], () => new Promise<void>(() => {})))
    runtime.start()
    await expectFailure(runtime.send(Work({}), agentId("never")), "SEND_TIMEOUT", /5 ms/)
    await runtime.stop({ graceMs: 1 })
  })

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, "5"])(
    "of %j is refused",
    async (timeoutMs) => {
      const { runtime } = await worker()
      await using _ = runtime
      const sent = runtime.send(Work({}), agentId("worker"), { timeoutMs: timeoutMs as number })
      await expectFailure(sent, "OPTION_INVALID", /timeoutMs is/)
      expect(() => new SingleThreadedAgentRuntime({ sendTimeoutMs: timeoutMs as number })).toThrow(
        "sendTimeoutMs",
      )
    },
  )
})

describe("a cancelled send", () => {
  it("whose handler fails later leaves the runtime able to become idle", async () => {
    await using runtime = new SingleThreadedAgentRuntime({ logger: silentLogger })
    const begun = gate()
    const ended = gate()
    await runtime.register(
      "sulky",
      () =>
        new ClosureAgent([Work], async () => {
          begun.open()
          await ended.promise
          throw new Error("after the fact")
        }),
    )
    runtime.start()
    const controller = new AbortController()
    const sent = runtime.send(Work({}), agentId("sulky"), { signal: controller.signal })
    await begun.promise
    controller.abort(new Error("left"))
    await expect(sent).rejects.toThrow("left")
    ended.open()
    await runtime.stopWhenIdle()
  })
})
