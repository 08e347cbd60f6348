import { describe, expect, it } from "vitest"
import { z } from "zod"
import {
  AgentProxy,
  ClosureAgent,
  type Message,
  type MessageContext,
  RoutedAgent,
  SingleThreadedAgentRuntime,
  agentId,
  currentAgentId,
  currentInstantiation,
  defineMessage,
} from "../index.ts"
import { expectFailure } from "../expect-failure.test-kit.ts"
import { gate } from "../gate.test-kit.ts"

const Ping = defineMessage("Ping", z.object({ content: z.string() }))
const Pong = defineMessage("Pong", z.object({ content: z.string() }))
const Other = defineMessage("Other", z.object({}))

class Echo extends RoutedAgent {
  constructor() {
    super("Echoes.")
    this.on(Ping, ({ content }) => Pong({ content }))
  }
}

async function started(): Promise<SingleThreadedAgentRuntime> {
  const runtime = new SingleThreadedAgentRuntime()
  await runtime.register("echo", () => new Echo())
  runtime.start()
  return runtime
}

describe("send", () => {
  it("gives the handler's reply", async () => {
    await using runtime = await started()
    const reply = await runtime.send(Ping({ content: "hi" }), agentId("echo"), { expect: Pong })
    expect(reply.content).toBe("hi")
  })

  it("gives undefined when the handler returns nothing", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    await runtime.register("quiet", () => new ClosureAgent([Ping], () => {}))
    runtime.start()
    expect(await runtime.send(Ping({ content: "" }), agentId("quiet"))).toBeUndefined()
  })

  it("waits for start when it comes before", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    await runtime.register("echo", () => new Echo())
    const reply = runtime.send(Ping({ content: "early" }), agentId("echo"), { expect: Pong })
    runtime.start()
    expect((await reply).content).toBe("early")
  })

  it("rejects with the handler's own error", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    const boom = new Error("boom")
    await runtime.register("bad", () => new ClosureAgent([Ping], () => Promise.reject(boom)))
    await runtime.register("worse", () => new ClosureAgent([Ping], () => thrower(boom)))
    runtime.start()
    await expect(runtime.send(Ping({ content: "" }), agentId("bad"))).rejects.toBe(boom)
    await expect(runtime.send(Ping({ content: "" }), agentId("worse"))).rejects.toBe(boom)
    await runtime.stopWhenIdle()
  })

  it("rejects a reply of another type than expected", async () => {
    await using runtime = await started()
    const sent = runtime.send(Ping({ content: "" }), agentId("echo"), { expect: Other })
    await expectFailure(sent, "REPLY_INVALID", /answered Pong where Other/)
  })

  it("rejects a reply that is not a message", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    await runtime.register("bad", () => new ClosureAgent([Ping], () => 42 as never))
    runtime.start()
    const sent = runtime.send(Ping({ content: "" }), agentId("bad"))
    await expectFailure(sent, "REPLY_INVALID", /answered 42/)
  })

  it("rejects an unknown agent type and lists the known ones", async () => {
    await using runtime = await started()
    const sent = runtime.send(Ping({ content: "" }), agentId("ecko"))
    await expectFailure(sent, "AGENT_TYPE_UNKNOWN", /"ecko".*Known: echo/)
  })

  it.each([
    undefined,
    null,
    "echo",
    {},
    { type: "echo" },
    { type: "a b", key: "k" },
    { type: "echo", key: "" },
  ])("rejects %j as a recipient", async (recipient) => {
    await using runtime = await started()
    const sent = runtime.send(Ping({ content: "" }), recipient as never)
    await expectFailure(sent, "AGENT_ID_INVALID")
  })

  it("rejects what is not a message", async () => {
    await using runtime = await started()
    const sent = runtime.send({ content: "plain" } as never, agentId("echo"))
    await expectFailure(sent, "MESSAGE_INVALID", /defineMessage/)
  })

  it("rejects an invalid sender, but asks nothing else of it", async () => {
    await using runtime = await started()
    const options = { sender: { type: "no slash/", key: "k" } }
    await expectFailure(runtime.send(Ping({ content: "" }), agentId("echo"), options), "AGENT_ID_INVALID")
    const unregistered = { sender: agentId("nobody"), expect: Pong }
    expect((await runtime.send(Ping({ content: "x" }), agentId("echo"), unregistered)).content).toBe("x")
  })

  it("rejects a message that no handler takes, and names what the agent handles", async () => {
    await using runtime = await started()
    const sent = runtime.send(Other({}), agentId("echo"))
    await expectFailure(sent, "MESSAGE_UNHANDLED", /handles: Ping/)
  })

  it("tells apart two definitions of one name", async () => {
    await using runtime = await started()
    const Twin = defineMessage("Ping", z.object({ content: z.string() }))
    const sent = runtime.send(Twin({ content: "" }), agentId("echo"))
    await expectFailure(sent, "MESSAGE_UNHANDLED", /one defineMessage/)
  })

  it("tells the handler who sent, that it is awaited, and under which id", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    const seen: MessageContext[] = []
    await runtime.register(
      "watch",
      () => new ClosureAgent([Ping], (_message, context) => void seen.push(context)),
    )
    runtime.start()
    const options = { sender: agentId("caller", "c"), messageId: "m-1" }
    await runtime.send(Ping({ content: "" }), agentId("watch"), options)
    await runtime.send(Ping({ content: "" }), agentId("watch"))
    expect(seen[0]).toMatchObject({
      sender: agentId("caller", "c"),
      messageId: "m-1",
      isRpc: true,
      topicId: undefined,
    })
    expect(seen[1]?.sender).toBeUndefined()
    expect(seen[1]?.messageId).toMatch(/^[0-9a-f-]{36}$/)
    expect(seen[1]?.messageId).toBe(seen[1]?.messageId)
  })
})

describe("agents", () => {
  it("are built on demand, once an id, however many messages come first", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    const opened = gate()
    let built = 0
    await runtime.register("slow", async () => {
      built += 1
      await opened.promise
      return new Echo()
    })
    runtime.start()
    const sends = Array.from({ length: 5 }, (_, index) =>
      runtime.send(Ping({ content: `${index}` }), agentId("slow"), { expect: Pong }),
    )
    opened.open()
    expect((await Promise.all(sends)).map(({ content }) => content)).toEqual(["0", "1", "2", "3", "4"])
    expect(built).toBe(1)
    await runtime.send(Ping({ content: "" }), agentId("slow", "another"))
    expect(built).toBe(2)
  })

  it("know their id and runtime in the constructor, also in an asynchronous factory", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    const seen: unknown[] = []
    class Curious extends Echo {
      constructor() {
        super()
        seen.push(this.id.key, this.runtime === runtime, currentInstantiation()?.id)
      }
    }
    await runtime.register("curious", async (id) => {
      await Promise.resolve()
      seen.push(id.key)
      return new Curious()
    })
    runtime.start()
    await runtime.send(Ping({ content: "" }), agentId("curious", "k1"))
    expect(seen).toEqual(["k1", "k1", true, { type: "curious", key: "k1" }])
    expect(currentInstantiation()).toBeUndefined()
  })

  it("whose factory fails reject every waiting sender, and are built again for the next", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    let attempts = 0
    await runtime.register("flaky", async () => {
      attempts += 1
      await Promise.resolve()
      if (attempts === 1) throw new Error("no luck")
      return new Echo()
    })
    runtime.start()
    const first = [1, 2].map(() => runtime.send(Ping({ content: "" }), agentId("flaky")))
    for (const send of first) {
      const error = await expectFailure(send, "AGENT_CREATION_FAILED", /flaky\/default.*no luck/)
      expect(error.cause).toEqual(new Error("no luck"))
    }
    expect((await runtime.send(Ping({ content: "2" }), agentId("flaky"), { expect: Pong })).content).toBe("2")
    await runtime.stopWhenIdle()
  })

  it("cannot be one object under two ids", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    const shared = new Echo()
    await runtime.register("shared", () => shared)
    runtime.start()
    await runtime.send(Ping({ content: "" }), agentId("shared", "a"))
    const error = await expectFailure(
      runtime.send(Ping({ content: "" }), agentId("shared", "b")),
      "AGENT_CREATION_FAILED",
    )
    expect(error.cause).toMatchObject({ code: "AGENT_ALREADY_BOUND" })
  })

  it("must be agents", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    await runtime.register("thing", () => ({}) as never)
    runtime.start()
    const error = await expectFailure(
      runtime.send(Ping({ content: "" }), agentId("thing")),
      "AGENT_CREATION_FAILED",
    )
    expect(error.cause).toMatchObject({ code: "AGENT_INVALID" })
  })

  it("have no id before they are registered", () => {
    expect(() => new Echo().id).toThrow(expect.objectContaining({ code: "AGENT_UNBOUND" }))
  })

  it("see themselves as the current agent inside a handler only", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    const seen: unknown[] = []
    await runtime.register(
      "self",
      () =>
        new ClosureAgent([Ping], async () => {
          seen.push(currentAgentId())
          await Promise.resolve()
          seen.push(currentAgentId())
        }),
    )
    runtime.start()
    await runtime.send(Ping({ content: "" }), agentId("self", "k"))
    expect(seen).toEqual([agentId("self", "k"), agentId("self", "k")])
    expect(currentAgentId()).toBeUndefined()
  })
})

describe("register", () => {
  it("refuses a type twice, an invalid type, and what is not a factory", async () => {
    await using runtime = await started()
    await expectFailure(
      runtime.register("echo", () => new Echo()),
      "AGENT_ALREADY_REGISTERED",
    )
    await expectFailure(
      runtime.register("a b", () => new Echo()),
      "AGENT_ID_INVALID",
    )
    await expectFailure(runtime.register("x", "Echo" as never), "AGENT_INVALID")
    await expectFailure(
      runtime.register("y", () => new Echo(), { concurrency: 0 }),
      "OPTION_INVALID",
    )
    // A refused registration leaves nothing behind.
    await runtime.register("y", () => new Echo())
  })
})

describe("registerInstance", () => {
  it("makes an existing object reachable under its id alone", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    const echo = new Echo()
    await runtime.registerInstance(agentId("one", "a"), echo)
    runtime.start()
    expect(echo.id).toEqual(agentId("one", "a"))
    expect((await runtime.send(Ping({ content: "1" }), agentId("one", "a"), { expect: Pong })).content).toBe(
      "1",
    )
    await expectFailure(runtime.send(Ping({ content: "1" }), agentId("one", "b")), "AGENT_UNKNOWN", /one\/b/)
  })

  it("refuses an id twice, a type with a factory, and an object that has an id", async () => {
    await using runtime = await started()
    const echo = new Echo()
    await runtime.registerInstance(agentId("one", "a"), echo)
    const already = "AGENT_ALREADY_REGISTERED"
    await expectFailure(runtime.registerInstance(agentId("one", "a"), new Echo()), already)
    await expectFailure(runtime.registerInstance(agentId("echo", "a"), new Echo()), already)
    await expectFailure(
      runtime.register("one", () => new Echo()),
      already,
    )
    await expectFailure(runtime.registerInstance(agentId("two", "a"), echo), "AGENT_ALREADY_BOUND")
    await runtime.register("two", () => new Echo())
  })
})

describe("AgentProxy", () => {
  it("sends to its agent and tells what it is", async () => {
    await using runtime = await started()
    const proxy = new AgentProxy(agentId("echo", "p"), runtime)
    expect((await proxy.send(Ping({ content: "via" }), { expect: Pong })).content).toBe("via")
    expect(await proxy.metadata()).toEqual({ type: "echo", key: "p", description: "Echoes." })
    expect(await proxy.saveState()).toEqual({})
  })
})

describe("RoutedAgent", () => {
  class Picky extends RoutedAgent {
    constructor(log: string[]) {
      super("Takes what matches.")
      const note = (name: string) => (message: Message) => {
        log.push(name)
        return message
      }
      this.on(Ping, note("event"), { kind: "event" })
      this.on(Ping, note("rpc-a"), { kind: "rpc", match: ({ content }) => content === "a" })
      this.on(Ping, note("rpc-long"), { kind: "rpc", match: ({ content }) => content.length > 3 })
      this.on(Ping, note("rpc-boom"), {
        match: ({ content }) => content === "!" && thrower(new Error("match")),
      })
    }
  }

  it("takes the first handler whose kind and match fit", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    const log: string[] = []
    await runtime.register("picky", () => new Picky(log))
    runtime.start()
    const send = (content: string): Promise<unknown> => runtime.send(Ping({ content }), agentId("picky"))
    await send("a")
    await send("aaaa")
    expect(log).toEqual(["rpc-a", "rpc-long"])
    await expectFailure(send("b"), "MESSAGE_UNHANDLED", /match and kind/)
    await expect(send("!")).rejects.toThrow("match")
  })

  it("lets a subclass answer what nothing handles", async () => {
    class Lenient extends Echo {
      protected override onUnhandledMessage(): Message {
        return Pong({ content: "whatever" })
      }
    }
    await using runtime = new SingleThreadedAgentRuntime()
    await runtime.register("lenient", () => new Lenient())
    runtime.start()
    expect((await runtime.send(Other({}), agentId("lenient"), { expect: Pong })).content).toBe("whatever")
  })
})

describe("getUnderlyingAgent", () => {
  it("gives the object, or says which class it is", async () => {
    await using runtime = await started()
    expect(await runtime.getUnderlyingAgent(agentId("echo"), Echo)).toBeInstanceOf(Echo)
    await expectFailure(
      runtime.getUnderlyingAgent(agentId("echo"), ClosureAgent),
      "AGENT_INVALID",
      /is a Echo, not a ClosureAgent/,
    )
  })
})

function thrower(error: Error): never {
  throw error
}
