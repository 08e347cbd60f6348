import { describe, expect, it } from "vitest"
import { z } from "zod"
import { expectFailure } from "../expect-failure.test-kit.ts"
import { gate } from "../gate.test-kit.ts"
import {
  RoutedAgent,
  SingleThreadedAgentRuntime,
  agentId,
  defineMessage,
  typeSubscription,
} from "../index.ts"

const Count = defineMessage("Count", z.object({}))
const Counted = defineMessage("Counted", z.object({ times: z.number() }))

class Counter extends RoutedAgent {
  times = 0
  isClosed = false
  constructor(before: () => Promise<void> = async () => {}) {
    super("Counts its messages.")
    this.on(Count, async () => {
      await before()
      this.times += 1
      return Counted({ times: this.times })
    })
  }
  override close(): void {
    this.isClosed = true
  }
}

describe("removeAgent", () => {
  it("closes the agent, and a factory builds it anew", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    const built: Counter[] = []
    await runtime.register("counter", () => (built[built.length] = new Counter()), {
      subscriptions: [typeSubscription("numbers")],
    })
    runtime.start()
    const id = agentId("counter", "a")
    await runtime.send(Count({}), id)
    expect(await runtime.send(Count({}), id, { expect: Counted })).toEqual({ times: 2 })
    await runtime.removeAgent(id)
    expect(built.map(({ isClosed }) => isClosed)).toEqual([true])
    expect(await runtime.send(Count({}), id, { expect: Counted })).toEqual({ times: 1 })
    await runtime.removeAgent(agentId("counter", "never built"))
    expect(built).toHaveLength(2)
  })

  it("lets the message under way end, and refuses those behind it", async () => {
    await using runtime = new SingleThreadedAgentRuntime()
    const hold = gate()
    const began = gate()
    const agent = new Counter(async () => {
      began.open()
      await hold.promise
    })
    const id = agentId("counter", "a")
    await runtime.registerInstance(id, agent)
    runtime.start()
    const first = runtime.send(Count({}), id, { expect: Counted })
    await began.promise
    const removed = runtime.removeAgent(id)
    const late = runtime.send(Count({}), id)
    hold.open()
    expect(await first).toEqual({ times: 1 })
    await removed
    await expectFailure(late, "AGENT_UNKNOWN", /counter\/a was removed/)
    await expectFailure(runtime.send(Count({}), id), "AGENT_TYPE_UNKNOWN")
    expect(agent.isClosed).toBe(true)
    await runtime.whenIdle()
    await runtime.registerInstance(id, new Counter())
    expect(await runtime.send(Count({}), id, { expect: Counted })).toEqual({ times: 1 })
  })
})
