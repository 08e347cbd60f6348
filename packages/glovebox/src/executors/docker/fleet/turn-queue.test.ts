import { describe, expect, it } from "vitest"
import { StandInHost, turnTenant } from "./fleet.test-kit.ts"
import { type Turn, TurnQueue, type TurnRequest, type TurnTenant } from "./turn-queue.ts"

const NEVER = new AbortController().signal

function request(tenant: TurnTenant, changes: Partial<TurnRequest> = {}): TurnRequest {
  const where = { hosts: new Set(["a", "b"]), image: "image", canPull: false, tried: new Set<string>() }
  return { tenant, where, isAgain: false, refuse: (because) => new Error(because), ...changes }
}

/** Asks for turns, and writes down who gets one. */
class Line {
  readonly got: string[] = []
  readonly turns: Turn<StandInHost>[] = []
  readonly queue: TurnQueue<StandInHost>

  constructor(...hosts: StandInHost[]) {
    this.queue = new TurnQueue(hosts)
  }

  ask(tenant: TurnTenant, times = 1, changes: Partial<TurnRequest> = {}): Promise<void>[] {
    return Array.from({ length: times }, async () => {
      const turn = await this.queue.take(request(tenant, changes), NEVER)
      this.got.push(tenant.name)
      this.turns.push(turn)
    })
  }

  /** Ends the oldest turn, and lets whoever is next go on. */
  async next(): Promise<void> {
    this.turns.shift()?.end()
    await settle()
  }
}

async function settle(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve)
  })
}

describe("TurnQueue", () => {
  it("lets no tenant starve another: whatever one asks for, the next place is the other's", async () => {
    const line = new Line(new StandInHost("a", 2))
    const [greedy, modest] = [turnTenant("greedy"), turnTenant("modest")]
    void line.ask(greedy, 50)
    await settle()
    void line.ask(modest, 3)
    for (let count = 0; count < 8; count += 1) await line.next()
    const [g, m] = ["greedy", "modest"]
    expect(line.got.slice(0, 8)).toEqual([g, g, m, g, m, g, m, g])
    expect(line.queue.waitingOf(modest)).toBe(0)
  })

  it("shares evenly between tenants that all have more than fits", async () => {
    const host = new StandInHost("a", 3)
    const line = new Line(host)
    const tenants = ["x", "y", "z"].map((name) => turnTenant(name))
    for (const tenant of tenants) void line.ask(tenant, 40)
    await settle()
    for (let count = 0; count < 60; count += 1) await line.next()
    const counts = tenants.map(({ name }) => line.got.filter((other) => other === name).length)
    // The first three were alone.
    expect(counts).toEqual([23, 20, 20])
    expect(host.most).toBe(3)
  })

  it("runs no more of a tenant than it may, and gives the place to the next", async () => {
    const line = new Line(new StandInHost("a", 4))
    const [bounded, other] = [turnTenant("bounded", { concurrentRuns: 1 }), turnTenant("other")]
    void line.ask(bounded, 3)
    void line.ask(other, 2)
    await settle()
    expect(line.got).toEqual(["bounded", "other", "other"])
    await line.next()
    expect(line.got).toEqual(["bounded", "other", "other", "bounded"])
  })

  it("does not let work that is bound to a full engine hold up the rest of its tenant", async () => {
    const [a, b] = [new StandInHost("a", 1), new StandInHost("b", 1)]
    const line = new Line(a, b)
    const tenant = turnTenant("t")
    const bound = { ...request(tenant).where, only: "a" }
    a.running = 1
    void line.ask(tenant, 1, { where: bound })
    void line.ask(tenant)
    await settle()
    expect([line.turns.map(({ host }) => host.name), line.queue.waitingOf(tenant)]).toEqual([["b"], 1])
    a.running = 0
    line.queue.dispatch()
    await settle()
    expect(line.turns.map(({ host }) => host.name)).toEqual(["b", "a"])
  })

  it("refuses more than may wait, and takes work that comes again all the same, as the first", async () => {
    const line = new Line(new StandInHost("a", 1))
    const tenant = turnTenant("t", { maxQueued: 1 })
    void line.ask(tenant, 2)
    await settle()
    await expect(line.ask(tenant)[0]).rejects.toThrow("full")
    const order: string[] = []
    void line.ask(tenant, 1, { isAgain: true })[0]?.then(() => order.push("again"))
    await line.next()
    expect([order, line.queue.waitingOf(tenant)]).toEqual([["again"], 1])
  })

  it("lets one that waits be cancelled, and keeps no place for it", async () => {
    const line = new Line(new StandInHost("a", 1))
    const tenant = turnTenant("t")
    void line.ask(tenant)
    await settle()
    const controller = new AbortController()
    const cancelled = line.queue.take(request(tenant), controller.signal)
    void line.ask(tenant)
    controller.abort(new Error("enough"))
    await expect(cancelled).rejects.toThrow("enough")
    await line.next()
    expect([line.got.length, tenant.running, line.queue.waitingOf(tenant)]).toEqual([2, 1, 0])
    await expect(line.queue.take(request(tenant), controller.signal)).rejects.toThrow("enough")
  })

  it("refuses those who wait when there can be no place any more, and ends all when it is closed", async () => {
    const host = new StandInHost("a", 1)
    const line = new Line(host)
    const tenant = turnTenant("t")
    void line.ask(tenant)
    await settle()
    const [waiting] = line.ask(tenant)
    host.state = "down"
    line.queue.dispatch()
    await expect(waiting).rejects.toThrow("down")
    host.state = "up"
    const [left] = line.ask(tenant)
    line.queue.close(new Error("closed"))
    await expect(left).rejects.toThrow("closed")
    await expect(line.ask(tenant)[0]).rejects.toThrow("closed")
  })

  it("counts a turn that is ended twice once", async () => {
    const host = new StandInHost("a", 2)
    const line = new Line(host)
    const tenant = turnTenant("t")
    void line.ask(tenant, 2)
    await settle()
    line.turns[0]?.end()
    line.turns[0]?.end()
    expect([host.running, tenant.running]).toEqual([1, 1])
  })
})
