import { describe, expect, it } from "vitest"
import { z } from "zod"
import {
  ClosureAgent,
  type InterventionDecision,
  type InterventionHandler,
  SingleThreadedAgentRuntime,
  agentId,
  defineMessage,
  silentLogger,
  topicId,
  typeSubscription,
} from "./index.ts"
import { expectFailure } from "./expect-failure.test-kit.ts"
import { gate } from "./gate.test-kit.ts"

const Say = defineMessage("Say", z.object({ text: z.string() }))
const Said = defineMessage("Said", z.object({ text: z.string() }))

async function runtimeWith(...interventions: InterventionHandler[]): Promise<{
  runtime: SingleThreadedAgentRuntime
  heard: string[]
  send: (text: string) => Promise<{ readonly text: string }>
}> {
  const runtime = new SingleThreadedAgentRuntime({ interventions, logger: silentLogger })
  const heard: string[] = []
  await runtime.register(
    "a",
    () =>
      new ClosureAgent([Say], ({ text }) => {
        heard.push(text)
        return Said({ text })
      }),
    { subscriptions: [typeSubscription("talk")] },
  )
  runtime.start()
  return { runtime, heard, send: (text) => runtime.send(Say({ text }), agentId("a"), { expect: Said }) }
}

const append = (suffix: string): InterventionHandler => ({
  onSend: (message) => replaced(message, suffix),
  onPublish: (message) => replaced(message, suffix),
})

function replaced(message: object, suffix: string): InterventionDecision<ReturnType<typeof Say>> {
  return { action: "replace", message: Say({ text: `${(message as { text: string }).text}${suffix}` }) }
}

describe("interventions", () => {
  it("form a chain in which each sees what the one before it left", async () => {
    const { runtime, heard, send } = await runtimeWith(
      append("1"),
      { onSend: () => ({ action: "allow" }) },
      append("2"),
    )
    await using _ = runtime
    await send("x")
    await runtime.publish(Say({ text: "y" }), topicId("talk"))
    await runtime.stopWhenIdle()
    expect(heard).toEqual(["x12", "y12"])
  })

  it("are told who speaks to whom", async () => {
    const seen: unknown[] = []
    const { runtime } = await runtimeWith({
      onSend: (_message, { recipient, sender, messageId }) => {
        seen.push([recipient, sender, messageId])
        return { action: "allow" }
      },
      onPublish: (_message, { topicId: topic, sender }) => {
        seen.push([topic, sender])
        return { action: "allow" }
      },
      onResponse: (reply, { sender, recipient, request, messageId }) => {
        seen.push([reply, sender, recipient, request, messageId])
        return { action: "allow" }
      },
    })
    await using _ = runtime
    const sender = agentId("caller")
    await runtime.send(Say({ text: "q" }), agentId("a"), { sender, messageId: "m" })
    await runtime.publish(Say({ text: "p" }), topicId("talk"), { sender })
    await runtime.stopWhenIdle()
    expect(seen).toEqual([
      [agentId("a"), sender, "m"],
      [Said({ text: "q" }), agentId("a"), sender, Say({ text: "q" }), "m"],
      [topicId("talk"), sender],
    ])
  })

  it("may drop: a sender learns it, a publisher does not, and the runtime becomes idle", async () => {
    const drop = { action: "drop", reason: "noise" } as const
    const { runtime, heard, send } = await runtimeWith({ onSend: () => drop, onPublish: () => drop })
    await using _ = runtime
    const kinds: string[] = []
    runtime.on("message-dropped", ({ kind, reason }) => kinds.push(`${kind}: ${reason}`))
    await expectFailure(send("x"), "MESSAGE_DROPPED", /noise/)
    await runtime.publish(Say({ text: "y" }), topicId("talk"))
    await runtime.stopWhenIdle()
    expect(heard).toEqual([])
    expect(kinds).toEqual(["send: noise", "publish: noise"])
  })

  it("may drop or replace a reply, after the handler has run", async () => {
    const { runtime, heard, send } = await runtimeWith({
      onResponse: (reply) =>
        Said.is(reply) && reply.text === "secret"
          ? { action: "drop" }
          : { action: "replace", message: Said({ text: "redacted" }) },
    })
    await using _ = runtime
    await expectFailure(send("secret"), "MESSAGE_DROPPED")
    expect((await send("plain")).text).toBe("redacted")
    await runtime.stopWhenIdle()
    expect(heard).toEqual(["secret", "plain"])
  })

  it("may reject with a reason and a cause, which sender and publisher get", async () => {
    const error = new Error("policy 7")
    const reject = { action: "reject", reason: "not allowed", error } as const
    const { runtime, heard, send } = await runtimeWith({ onSend: () => reject, onPublish: () => reject })
    await using _ = runtime
    expect((await expectFailure(send("x"), "MESSAGE_REJECTED", /not allowed/)).cause).toBe(error)
    await expectFailure(runtime.publish(Say({ text: "y" }), topicId("talk")), "MESSAGE_REJECTED")
    await expectFailure(runtime.publish(Say({ text: "y" }), topicId("nobody")), "MESSAGE_REJECTED")
    await runtime.stopWhenIdle()
    expect(heard).toEqual([])
  })

  it.each(["onSend", "onPublish", "onResponse"] as const)(
    "that throw in %s give their error to the caller, and wedge nothing",
    async (hook) => {
      const boom = new Error(`boom in ${hook}`)
      let calls = 0
      const failing: InterventionHandler = {
        [hook]: () => {
          calls += 1
          if (calls % 2 === 1) throw boom
          return calls % 4 === 0 ? { action: "allow" } : Promise.reject(boom)
        },
      }
      const { runtime, send } = await runtimeWith(failing)
      await using _ = runtime
      const act = (): Promise<unknown> =>
        hook === "onPublish" ? runtime.publish(Say({ text: "p" }), topicId("talk")) : send("s")
      await expect(act()).rejects.toBe(boom)
      await expect(act()).rejects.toBe(boom)
      await expect(act()).rejects.toBe(boom)
      await act()
      await runtime.stopWhenIdle()
    },
  )

  it.each([
    undefined,
    null,
    true,
    "allow",
    {},
    { action: "maybe" },
    { action: "replace", message: { text: "raw" } },
  ])("that answer %j let nothing through", async (answer) => {
    const { runtime, heard, send } = await runtimeWith({ onSend: () => answer as never })
    await using _ = runtime
    await expectFailure(send("x"), "INTERVENTION_INVALID", /Return \{ action/)
    await runtime.stopWhenIdle()
    expect(heard).toEqual([])
  })

  it("hold up only the agent the message is for, and keep its order", async () => {
    const approved = gate()
    const { runtime, heard, send } = await runtimeWith({
      onSend: async (message) => {
        if (Say.is(message) && message.text === "first") await approved.promise
        return { action: "allow" }
      },
    })
    await using _ = runtime
    const first = send("first")
    const second = send("second")
    const elsewhere = runtime.send(Say({ text: "elsewhere" }), agentId("a", "other"))
    await elsewhere
    expect(heard).toEqual(["elsewhere"])
    approved.open()
    await Promise.all([first, second])
    expect(heard).toEqual(["elsewhere", "first", "second"])
  })

  it("that never answer are told when the sender gives up or the runtime stops", async () => {
    const signals: AbortSignal[] = []
    const hang = (_message: unknown, { signal }: { signal: AbortSignal }): Promise<never> => {
      signals.push(signal)
      return new Promise(() => {})
    }
    const { runtime } = await runtimeWith({ onSend: hang, onPublish: hang })
    const controller = new AbortController()
    const sent = runtime.send(Say({ text: "" }), agentId("a"), { signal: controller.signal })
    controller.abort(new Error("bored"))
    await expect(sent).rejects.toThrow("bored")
    expect(signals[0]?.reason).toEqual(new Error("bored"))
    const pending = [
      runtime.send(Say({ text: "" }), agentId("a")),
      runtime.publish(Say({ text: "" }), topicId("talk")),
      runtime.publish(Say({ text: "" }), topicId("nobody")),
    ]
    const stopped = runtime.stop()
    for (const promise of pending) await expectFailure(promise, "RUNTIME_STOPPED")
    await stopped
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true, true])
    await runtime.close()
  })

  it("that hang on a reply do not hang a stop", async () => {
    const { runtime, send } = await runtimeWith({ onResponse: () => new Promise(() => {}) })
    const sent = send("x")
    await new Promise(setImmediate)
    await Promise.all([runtime.stop({ graceMs: 5 }), expectFailure(sent, "RUNTIME_STOPPED")])
    await runtime.close()
  })
})
