import assert from "node:assert/strict"
import {
  ClosureAgent,
  type Message,
  RoutedAgent,
  agentId,
  topicId,
  typeSubscription,
} from "../../core/index.ts"
import { rejectsWith } from "../expectations.ts"
import { Form, Other, type RuntimeSuite, Said, Say, say } from "./runtime-suite.ts"

const fields = (message: Message): object => ({ ...message })
const named = (name: string) => (): Message => Said({ text: name })

export function defineRuntimeMessages({ it }: RuntimeSuite): void {
  it("arrive with defaults filled in, fields changed by their schema, and none where none was", async (open) => {
    const { away, register, start } = await open()
    const seen: Message[] = []
    await register("clerk", () => new ClosureAgent([Form], (form) => (seen.push(form), form)), {
      subscriptions: [typeSubscription("forms")],
    })
    await start()
    const full = {
      name: "b",
      count: 3,
      tags: ["ä", "\u0000", "😀"],
      note: "",
      nested: { nothing: null, list: [[], [1.5, -0.25]] },
    }
    const replies = [
      await away.send(Form({ name: " a " }), agentId("clerk"), { expect: Form }),
      await away.send(Form({ ...full, count: "3" }), agentId("clerk"), { expect: Form }),
    ]
    await away.publish(Form({ name: "p" }), topicId("forms"))
    await away.whenIdle()
    const expected = [{ name: "a", count: 1, tags: ["none"] }, full, { name: "p", count: 1, tags: ["none"] }]
    assert.deepEqual(seen.map(fields), expected)
    assert.deepEqual(replies.map(fields), expected.slice(0, 2))
    assert.ok(seen.every((form) => Form.is(form)))
  })

  it("are read-only to whoever gets them", async (open) => {
    const { away, agent, start } = await open()
    await agent("changer", (message) => {
      assert.throws(() => Object.assign(message, { text: "changed" }), TypeError)
      return Said({ text: message.text })
    })
    await start()
    assert.equal((await away.send(say("same"), agentId("changer"), { expect: Said })).text, "same")
  })

  it("may be long, and in any script", async (open) => {
    const { away, agent, start } = await open()
    await agent("echo", ({ text }) => Said({ text }))
    await start()
    const text = 'Ω≠😀 "\\\n'.repeat(20_000)
    assert.equal((await away.send(say(text), agentId("echo"), { expect: Said })).text, text)
  })

  it("that no handler takes are refused, with what the agent handles", async (open) => {
    const { away, agent, start } = await open()
    await agent("echo", ({ text }) => Said({ text }))
    await start()
    await rejectsWith(away.send(Other({}), agentId("echo")), "MESSAGE_UNHANDLED", /handles: ConformanceSay/)
  })

  it("go to the first handler whose kind and match fit", async (open) => {
    class Picky extends RoutedAgent {
      constructor() {
        super("Takes what matches.")
        this.on(Say, named("event"), { kind: "event" })
        this.on(Say, named("a"), { kind: "rpc", match: ({ text }) => text === "a" })
        this.on(Say, named("long"), { match: ({ text }) => text.length > 3 })
      }
    }
    const { away, register, start } = await open()
    await register("picky", () => new Picky())
    await start()
    const ask = async (text: string): Promise<string> =>
      (await away.send(say(text), agentId("picky"), { expect: Said })).text
    assert.deepEqual([await ask("a"), await ask("aaaa")], ["a", "long"])
    await rejectsWith(ask("b"), "MESSAGE_UNHANDLED", /match and kind/)
  })

  it("of a type that a subclass answers are answered by it", async (open) => {
    class Lenient extends RoutedAgent {
      protected override onUnhandledMessage(): Message {
        return Said({ text: "whatever" })
      }
    }
    const { away, register, start } = await open()
    await register("lenient", () => new Lenient("Takes all."))
    await start()
    assert.equal((await away.send(Other({}), agentId("lenient"), { expect: Said })).text, "whatever")
  })
}
