import assert from "node:assert/strict"
import {
  type InterventionHandler,
  type Message,
  agentId,
  topicId,
  typeSubscription,
} from "../../core/index.ts"
import type { TestedRuntime } from "../runtime-subject.ts"
import { rejectionOf, rejectsWith } from "../expectations.ts"
import { type OpenStage, type RuntimeSuite, Said, Say, latch, say, textOf } from "./runtime-suite.ts"

interface Talk {
  readonly runtime: TestedRuntime
  readonly heard: string[]
  readonly send: (text: string, key?: string) => Promise<string>
  readonly publish: (text: string) => Promise<void>
}

/** An agent that writes down and repeats what it is told, by a runtime with these interventions. */
async function talk(open: OpenStage, ...interventions: readonly InterventionHandler[]): Promise<Talk> {
  const { home, agent, start } = await open({ interventions })
  const heard: string[] = []
  await agent(
    "a",
    ({ text }) => {
      heard.push(text)
      return Said({ text })
    },
    { subscriptions: [typeSubscription("talk")] },
  )
  await start()
  return {
    runtime: home,
    heard,
    send: async (text, key = "default") =>
      (await home.send(say(text), agentId("a", key), { expect: Said })).text,
    publish: async (text) => home.publish(say(text), topicId("talk")),
  }
}

const appended = (message: Message, suffix: string): { action: "replace"; message: Message } => ({
  action: "replace",
  message: say(`${Say.is(message) ? message.text : ""}${suffix}`),
})

const append = (suffix: string): InterventionHandler => ({
  onSend: (message) => appended(message, suffix),
  onPublish: (message) => appended(message, suffix),
})

export function defineRuntimeInterventions({ it }: RuntimeSuite): void {
  it("form a chain in which each sees what the one before it left", async (open) => {
    const { runtime, heard, send, publish } = await talk(open, append("1"), {}, append("2"))
    assert.equal(await send("x"), "x12")
    await publish("y")
    await runtime.whenIdle()
    assert.deepEqual(heard, ["x12", "y12"])
  })

  it("are told once who speaks to whom", async (open) => {
    const seen: unknown[] = []
    const { runtime } = await talk(open, {
      onSend: (_message, { recipient, sender, messageId }) => {
        seen.push(["send", recipient, sender, messageId])
        return { action: "allow" }
      },
      onPublish: (_message, { topicId: topic, sender }) => {
        seen.push(["publish", topic, sender])
        return { action: "allow" }
      },
      onResponse: (reply, { sender, recipient, messageId }) => {
        seen.push(["response", { ...reply }, sender, recipient, messageId])
        return { action: "allow" }
      },
    })
    const sender = agentId("caller")
    await runtime.send(say("q"), agentId("a"), { sender, messageId: "m" })
    await runtime.publish(say("p"), topicId("talk"), { sender })
    await runtime.whenIdle()
    assert.deepEqual(seen, [
      ["send", agentId("a"), sender, "m"],
      ["response", { text: "q" }, agentId("a"), sender, "m"],
      ["publish", topicId("talk"), sender],
    ])
  })

  it("may drop: a sender learns it, a publisher does not, and the runtime becomes idle", async (open) => {
    const drop = { action: "drop", reason: "noise" } as const
    const { runtime, heard, send, publish } = await talk(open, { onSend: () => drop, onPublish: () => drop })
    await rejectsWith(send("x"), "MESSAGE_DROPPED", /noise/)
    await publish("y")
    await runtime.whenIdle()
    assert.deepEqual(heard, [])
  })

  it("may drop or replace a reply, after the handler has run", async (open) => {
    const { heard, send } = await talk(open, {
      onResponse: (reply) =>
        Said.is(reply) && reply.text === "secret"
          ? { action: "drop" }
          : { action: "replace", message: Said({ text: "redacted" }) },
    })
    await rejectsWith(send("secret"), "MESSAGE_DROPPED")
    assert.equal(await send("plain"), "redacted")
    assert.deepEqual(heard, ["secret", "plain"])
  })

  it("may reject with a reason, which sender and publisher get", async (open) => {
    const reject = { action: "reject", reason: "not allowed" } as const
    const { runtime, heard, send, publish } = await talk(open, {
      onSend: () => reject,
      onPublish: () => reject,
    })
    await rejectsWith(send("x"), "MESSAGE_REJECTED", /not allowed/)
    await rejectsWith(publish("y"), "MESSAGE_REJECTED", /not allowed/)
    await rejectsWith(runtime.publish(say("z"), topicId("nobody")), "MESSAGE_REJECTED")
    await runtime.whenIdle()
    assert.deepEqual(heard, [])
  })

  for (const hook of ["onSend", "onPublish", "onResponse"] as const) {
    it(`that throw in ${hook} give their error to the caller, and wedge nothing`, async (open) => {
      let calls = 0
      const { runtime, send, publish } = await talk(open, {
        [hook]: () => {
          calls += 1
          if (calls === 1) throw new Error(`boom in ${hook}`)
          return calls === 2 ? Promise.reject(new Error(`boom in ${hook}`)) : { action: "allow" }
        },
      })
      const act = async (): Promise<unknown> => (hook === "onPublish" ? publish("p") : send("s"))
      for (const _time of [1, 2]) assert.equal(textOf(await rejectionOf(act())), `boom in ${hook}`)
      await act()
      await runtime.whenIdle()
    })
  }

  it("that give no answer let nothing through", async (open) => {
    for (const answer of [undefined, true, {}, { action: "maybe" }, { action: "replace", message: {} }]) {
      const { runtime, heard, send } = await talk(open, { onSend: () => answer as never })
      await rejectsWith(send("x"), "INTERVENTION_INVALID")
      await runtime.whenIdle()
      assert.deepEqual(heard, [])
    }
  })

  it("hold up only the agent the message is for, and keep its order", async (open) => {
    const approved = latch()
    const { heard, send } = await talk(open, {
      onSend: async (message) => {
        if (Say.is(message) && message.text === "first") await approved.opened
        return { action: "allow" }
      },
    })
    const held = [send("first"), send("second")]
    await send("elsewhere", "other")
    assert.deepEqual(heard, ["elsewhere"])
    approved.open()
    await Promise.all(held)
    assert.deepEqual(heard, ["elsewhere", "first", "second"])
  })

  it("that never answer learn when the sender gives up, and end with the runtime", async (open) => {
    const signals: AbortSignal[] = []
    const { runtime } = await talk(open, {
      onSend: (_message, { signal }) => {
        signals.push(signal)
        return new Promise(() => {})
      },
    })
    const controller = new AbortController()
    const sent = runtime.send(say(""), agentId("a"), { signal: controller.signal })
    controller.abort(new Error("bored"))
    assert.equal(await rejectionOf(sent), controller.signal.reason)
    assert.equal(signals[0]?.aborted, true)
    const pending = rejectsWith(runtime.send(say(""), agentId("a")), "RUNTIME_STOPPED")
    await Promise.all([runtime.stop(), pending])
    assert.equal(signals[1]?.aborted, true)
  })
}
