import assert from "node:assert/strict"
import { ClosureAgent, RoutedAgent, agentId, currentAgentId, typeSubscription } from "../../core/index.ts"
import { rejectionOf, rejectsWith } from "../expectations.ts"
import { type RuntimeSuite, Said, Say, latch, say } from "./runtime-suite.ts"

class Echo extends RoutedAgent {
  isClosed = false

  constructor(before: () => Promise<void> = async () => {}) {
    super("Echoes.")
    this.on(Say, async ({ text }) => {
      await before()
      return Said({ text: `${this.id.type}/${this.id.key}:${text}` })
    })
  }

  override close(): void {
    this.isClosed = true
  }
}

/** Nobody has this id, and perhaps nobody this type any more. */
async function isUnknown(send: Promise<unknown>): Promise<void> {
  const error = await rejectionOf(send)
  assert.match(String((error as { code?: unknown }).code), /^AGENT_(TYPE_)?UNKNOWN$/)
}

export function defineRuntimeAgents({ it }: RuntimeSuite): void {
  it("are built on demand, once an id, however many messages come first", async (open) => {
    const { away, register, start } = await open()
    const opened = latch()
    const built: string[] = []
    await register("slow", async ({ key }) => {
      built.push(key)
      await opened.opened
      return new Echo()
    })
    await start()
    assert.deepEqual(built, [])
    const sends = Array.from({ length: 5 }, (_, index) =>
      away.send(say(`${index}`), agentId("slow", "a"), { expect: Said }),
    )
    opened.open()
    assert.deepEqual(
      (await Promise.all(sends)).map(({ text }) => text),
      Array.from({ length: 5 }, (_, index) => `slow/a:${index}`),
    )
    await away.send(say(""), agentId("slow", "b"))
    assert.deepEqual(built, ["a", "b"])
  })

  it("know their id and runtime in the constructor, and themselves in a handler only", async (open) => {
    const { away, register, start } = await open()
    const seen: unknown[] = []
    await register("curious", async (id) => {
      await Promise.resolve()
      return new (class extends RoutedAgent {
        constructor() {
          super("Looks around.")
          seen.push(id.key, this.id.key, typeof this.runtime.send)
          this.on(Say, async () => {
            await Promise.resolve()
            seen.push(currentAgentId())
          })
        }
      })()
    })
    await start()
    await away.send(say(""), agentId("curious", "k"))
    assert.deepEqual(seen, ["k", "k", "function", agentId("curious", "k")])
    assert.equal(currentAgentId(), undefined)
  })

  it("tell what they are", async (open) => {
    const { away, home, register, start } = await open()
    await register("echo", () => new Echo())
    await home.registerInstance(agentId("one", "a"), new Echo())
    await start()
    const description = "Echoes."
    for (const [type, key] of [
      ["echo", "new"],
      ["one", "a"],
    ] as const) {
      assert.deepEqual(await away.agentMetadata(agentId(type, key)), { type, key, description })
    }
    await isUnknown(away.agentMetadata(agentId("ecko")))
  })

  it("cannot be registered twice, under an invalid type, or as no factory", async (open) => {
    const { home, register, start } = await open()
    await register("echo", () => new Echo())
    for (const isStarted of [false, true]) {
      if (isStarted) await start()
      await rejectsWith(
        register("echo", () => new Echo()),
        "AGENT_ALREADY_REGISTERED",
      )
      await rejectsWith(
        register("a b", () => new Echo()),
        "AGENT_ID_INVALID",
      )
      await rejectsWith(register("x", "Echo" as never), "AGENT_INVALID")
      await rejectsWith(
        register("y", () => new Echo(), { concurrency: 0 }),
        "OPTION_INVALID",
      )
    }
    // A refused registration leaves nothing behind.
    await register("y", () => new Echo())
    assert.equal((await home.send(say("1"), agentId("y"), { expect: Said })).text, "y/default:1")
  })

  it("can be objects, each under its own id alone", async (open) => {
    const { home, away, start } = await open()
    const echo = new Echo()
    await home.registerInstance(agentId("one", "a"), echo)
    await start()
    await home.registerInstance(agentId("one", "b"), new Echo())
    assert.deepEqual(echo.id, agentId("one", "a"))
    for (const key of ["a", "b"]) {
      const { text } = await away.send(say("1"), agentId("one", key), { expect: Said })
      assert.equal(text, `one/${key}:1`)
    }
    await isUnknown(away.send(say("1"), agentId("one", "c")))
  })

  it("that are objects have one id, and their type no factory", async (open) => {
    const { home, register, start } = await open()
    const echo = new Echo()
    await register("echo", () => new Echo())
    await home.registerInstance(agentId("one", "a"), echo)
    await start()
    const already = "AGENT_ALREADY_REGISTERED"
    await rejectsWith(home.registerInstance(agentId("one", "a"), new Echo()), already)
    await rejectsWith(home.registerInstance(agentId("echo", "a"), new Echo()), already)
    await rejectsWith(
      register("one", () => new Echo()),
      already,
    )
    await rejectsWith(home.registerInstance(agentId("two", "a"), echo), "AGENT_ALREADY_BOUND")
    await register("two", () => new Echo())
  })

  it("that are removed are closed, and built anew by their factory", async (open) => {
    const { away, register, start } = await open()
    const built: Echo[] = []
    await register("echo", () => (built[built.length] = new Echo()), {
      subscriptions: [typeSubscription("news")],
    })
    await start()
    const id = agentId("echo", "a")
    await away.send(say(""), id)
    await away.removeAgent(id)
    assert.deepEqual(
      built.map(({ isClosed }) => isClosed),
      [true],
    )
    await away.send(say(""), id)
    await away.removeAgent(agentId("echo", "never built"))
    assert.equal(built.length, 2)
  })

  it("that are removed end the message under way, and refuse those behind it", async (open) => {
    const { home, away, start } = await open()
    const hold = latch()
    const began = latch()
    const echo = new Echo(async () => {
      began.open()
      await hold.opened
    })
    const id = agentId("one", "a")
    await home.registerInstance(id, echo)
    await start()
    const first = away.send(say("1"), id, { expect: Said })
    await began.opened
    const removed = away.removeAgent(id)
    const late = isUnknown(away.send(say("2"), id))
    hold.open()
    assert.equal((await first).text, "one/a:1")
    await Promise.all([removed, late])
    await isUnknown(away.send(say("3"), id))
    assert.equal(echo.isClosed, true)
    await away.whenIdle()
    await home.registerInstance(id, new Echo())
    assert.equal((await away.send(say("4"), id, { expect: Said })).text, "one/a:4")
  })

  it("cannot be one object under two ids", async (open) => {
    const { away, register, start } = await open()
    const shared = new ClosureAgent([Say], () => {})
    await register("shared", () => shared)
    await start()
    await away.send(say(""), agentId("shared", "a"))
    await rejectsWith(away.send(say(""), agentId("shared", "b")), "AGENT_CREATION_FAILED", /shared\/a/)
  })
}
