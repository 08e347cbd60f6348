import { describe, expect, it } from "vitest"
import { RawWorker, payload, textOf } from "./raw-worker.test-kit.ts"
import { startHost, until } from "./start-host.test-kit.ts"

/** A worker that answers each request with its own name. */
async function named(address: string, clientId: string): Promise<RawWorker> {
  const worker = await RawWorker.open(address, { clientId })
  worker.onMessage = ({ request }) => {
    if (request)
      worker.link.send({ response: { request_id: request.request_id, payload: payload(clientId) } })
  }
  return worker
}

describe("the place of an agent", () => {
  it("is at the worker with the fewest agents, and then always the same", async () => {
    await using host = await startHost()
    using one = await named(host.address, "one")
    using two = await named(host.address, "two")
    for (const worker of [one, two]) {
      await worker.register("a")
      await worker.subscribe("news", "a")
    }
    const keys = Array.from({ length: 10 }, (_, index) => String(index))
    const places = new Map<string, string>()
    for (const key of keys) places.set(key, textOf(await one.send(`a/${key}`)))
    expect([...places.values()].filter((place) => place === "one")).toHaveLength(5)
    expect(host.status().workers.map(({ agents }) => agents)).toEqual([5, 5])
    using three = await named(host.address, "three")
    await three.register("a")
    for (const key of keys) expect(textOf(await two.send(`a/${key}`))).toBe(places.get(key))
    expect(textOf(await two.send("a/new"))).toBe("three")
    // Events find the same place.
    one.publish("news", "0", "e")
    const place = places.get("0") === "one" ? one : two
    expect((await place.next(({ cloudEvent }) => Boolean(cloudEvent))).cloudEvent?.id).toBe("e")
  })

  it("is another when the worker is gone, or says that the agent is", async () => {
    await using host = await startHost()
    using one = await named(host.address, "one")
    await one.register("a")
    using caller = await RawWorker.open(host.address)
    expect(textOf(await caller.send("a/1"))).toBe("one")
    expect(textOf(await caller.send("a/2"))).toBe("one")
    using two = await named(host.address, "two")
    await two.register("a")
    one.link.send({ notice: { removed: [{ type: "a", key: "1" }] } })
    await until(() => host.status().agents === 1)
    expect(textOf(await caller.send("a/1"))).toBe("two")
    expect(textOf(await caller.send("a/2"))).toBe("one")
    one.link.send({ notice: { leave: "bye" } })
    await until(() => host.status().workers.length === 2)
    expect(textOf(await caller.send("a/2"))).toBe("two")
  })

  it("is kept while a message that would build the agent anew may be on its way", async () => {
    await using host = await startHost()
    using one = await RawWorker.open(host.address)
    using two = await named(host.address, "two")
    await one.register("a")
    const first = two.post("a/1")
    const { request_id } = await one.request()
    await two.register("a")
    one.link.send({ notice: { removed: [{ type: "a", key: "1" }] } })
    const second = two.post("a/1")
    const again = await one.request()
    for (const id of [request_id, again.request_id]) {
      one.link.send({ response: { request_id: id, payload: payload("one") } })
    }
    expect(textOf(await two.answerTo(first))).toBe("one")
    expect(textOf(await two.answerTo(second))).toBe("one")
    expect(host.status().agents).toBe(1)
  })

  it("is told by workers that register single agents, once", async () => {
    await using host = await startHost()
    using one = await named(host.address, "one")
    using two = await named(host.address, "two")
    await one.register("a", ["left"])
    await two.register("a", ["right"])
    expect(textOf(await one.send("a/left"))).toBe("one")
    expect(textOf(await one.send("a/right"))).toBe("two")
    await expect(two.register("a", ["new", "left"])).rejects.toMatchObject({ code: 6 })
    // None of a call that failed is there.
    expect((await one.send("a/new")).metadata).toEqual({ "glovebox-error-code": "AGENT_UNKNOWN" })
    await expect(two.register("a", [""])).rejects.toMatchObject({ code: 3 })
  })

  it("is told by workers whose agents live already; of two the later one goes", async () => {
    await using host = await startHost()
    using one = await named(host.address, "one")
    using two = await named(host.address, "two")
    for (const worker of [one, two]) await worker.register("a")
    one.link.send({ notice: { alive: [{ type: "a", key: "1" }] } })
    await until(() => host.status().agents === 1)
    const ids = ["1", "2"].map((key) => ({ type: "a", key }))
    two.link.send({ notice: { alive: [...ids, { type: "other", key: "3" }] } })
    const { notice } = await two.next((message) => (message.notice?.removed?.length ?? 0) > 0)
    expect(notice?.removed).toMatchObject([
      { type: "a", key: "1" },
      { type: "other", key: "3" },
    ])
    expect(textOf(await one.send("a/1"))).toBe("one")
    expect(textOf(await one.send("a/2"))).toBe("two")
  })

  it("is not given to a new worker either, by a host at an address where another may have been", async () => {
    const before = await startHost()
    await before.stop({ graceMs: 0 })
    await using host = await startHost({ address: before.address, graceMs: 400 })
    using one = await named(host.address, "one")
    await one.register("a")
    const first = one.post("a/1")
    await until(() => host.status().pending === 1)
    using two = await named(host.address, "two")
    await two.register("a")
    two.link.send({ notice: { alive: [{ type: "a", key: "1" }] } })
    expect(textOf(await one.answerTo(first))).toBe("two")
    // What no worker brings has a place when they had the time to come.
    expect(textOf(await one.send("a/2"))).toBe("one")
  })

  it("is not given anew by a host that was restarted, before the others could say what lives with them", async () => {
    await using host = await startHost({ graceMs: 400 })
    using one = new RawWorker(host.address, { clientId: "one" })
    using two = new RawWorker(host.address, { clientId: "two" })
    for (const worker of [one, two]) worker.session = "of the host before"
    one.echo()
    await one.connect()
    expect(one.isResumed).toBe(false)
    await one.register("a")
    const answers = Promise.all(["a/1", "a/2", "late/1"].map((id) => one.answerTo(one.post(id))))
    await until(() => host.status().pending === 3)
    two.onMessage = ({ request }) => {
      if (request) two.link.send({ response: { request_id: request.request_id, payload: payload("two") } })
    }
    await two.connect()
    await two.register("a")
    two.link.send({ notice: { alive: [{ type: "a", key: "1" }] } })
    const [first, second, late] = await answers
    expect([first, second].map((answer) => answer && textOf(answer))).toEqual(["two", "hello"])
    expect(late?.metadata).toEqual({ "glovebox-error-code": "AGENT_TYPE_UNKNOWN" })
  })

  it("is no more when the worker takes a type back", async () => {
    await using host = await startHost()
    using one = await named(host.address, "one")
    await one.register("a")
    expect(textOf(await one.send("a/1"))).toBe("one")
    one.link.send({ notice: { unregistered: ["a"] } })
    expect((await one.send("a/1")).metadata).toEqual({ "glovebox-error-code": "AGENT_TYPE_UNKNOWN" })
    await one.register("a")
    expect(textOf(await one.send("a/1"))).toBe("one")
  })
})

describe("a worker's line", () => {
  it("lets a request pass that a handler waits for, and refuses what is too much", async () => {
    await using host = await startHost({ maxQueued: 1 })
    using worker = await RawWorker.open(host.address, { credits: 1 })
    await worker.register("a")
    const ids = [1, 2, 3].map(() => worker.post("a/1"))
    expect((await worker.answerTo(ids[2] ?? "")).metadata).toEqual({ "glovebox-error-code": "QUEUE_FULL" })
    await worker.request()
    worker.post("a/1", { request_id: "nested", metadata: { "glovebox-chain": "x:1" } })
    const nested = await worker.request()
    worker.link.send({ response: { request_id: nested.request_id, payload: payload("passed") } })
    expect(textOf(await worker.answerTo("nested"))).toBe("passed")
    expect(host.status().workers[0]).toMatchObject({ outstanding: 1, queued: 1 })
  })
})
