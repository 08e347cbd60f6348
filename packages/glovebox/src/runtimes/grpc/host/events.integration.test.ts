import { describe, expect, it } from "vitest"
import type { WireMessage } from "../wire/wire-message.ts"
import { RawWorker } from "./raw-worker.test-kit.ts"
import { startHost, until } from "./start-host.test-kit.ts"

const isEvent = ({ cloudEvent }: WireMessage): boolean => Boolean(cloudEvent)
const isRefusal = ({ notice }: WireMessage): boolean => (notice?.refusals?.length ?? 0) > 0

describe("events through a host", () => {
  it("go to each worker once, with the agent types that get it there", async () => {
    await using host = await startHost()
    using one = await RawWorker.open(host.address)
    using two = await RawWorker.open(host.address)
    using plain = await RawWorker.open(host.address, { isLink: false })
    for (const [worker, types] of [
      [one, ["a", "b"]],
      [two, ["c"]],
      [plain, ["d"]],
    ] as const) {
      for (const type of types) {
        await worker.register(type)
        await worker.subscribe("news", type)
      }
    }
    plain.publish("news", "k", "e1")
    expect(await one.next(isEvent)).toMatchObject({
      cloudEvent: { id: "e1", source: "k" },
      targets: ["a", "b"],
    })
    expect(await two.next(isEvent)).toMatchObject({ targets: ["c"] })
    expect(await plain.next(isEvent)).toMatchObject({ cloudEvent: { id: "e1" }, targets: [] })
    plain.publish("other")
    one.publish("news", "k", "e2")
    expect(await one.next(isEvent)).toMatchObject({ cloudEvent: { id: "e2" } })
    expect(host.metrics()).toMatchObject({ events: 3, deliveries: 6 })
  })

  it("find prefix subscriptions, and none that was removed", async () => {
    await using host = await startHost()
    using worker = await RawWorker.open(host.address)
    await worker.register("a")
    const typePrefixSubscription = { topic_type_prefix: "a:", agent_type: "a" }
    await worker.client.addSubscription(
      { subscription: { id: "p", typePrefixSubscription } },
      worker.metadata(),
    )
    const id = await worker.subscribe("news", "a")
    await worker.client.removeSubscription({ id }, worker.metadata())
    worker.publish("news")
    worker.publish("a:x", "k", "e")
    expect(await worker.next(isEvent)).toMatchObject({ cloudEvent: { id: "e", type: "a:x" }, targets: ["a"] })
    const { subscriptions } = await worker.client.getSubscriptions(worker.metadata())
    expect(subscriptions).toMatchObject([{ id: "p", typePrefixSubscription }])
  })

  it("keep their order, and are bounded by credits: what is beyond waits for what was handled", async () => {
    await using host = await startHost()
    using worker = await RawWorker.open(host.address, { credits: 2 })
    await worker.register("a")
    await worker.subscribe("news", "a")
    using publisher = await RawWorker.open(host.address)
    for (let index = 0; index < 5; index++) publisher.publish("news", "k", `e${index}`)
    const ids = [await worker.next(isEvent), await worker.next(isEvent)].map(
      ({ cloudEvent }) => cloudEvent?.id,
    )
    await until(() => host.metrics().events === 5)
    expect(host.status().workers.find(({ clientId }) => clientId === worker.clientId)).toMatchObject({
      outstanding: 2,
      queued: 3,
    })
    worker.link.send({ notice: { handled: 2 } })
    for (let index = 0; index < 2; index++) ids.push((await worker.next(isEvent)).cloudEvent?.id)
    // More than it ever had is not more than all.
    worker.link.send({ notice: { handled: 1000 } })
    ids.push((await worker.next(isEvent)).cloudEvent?.id)
    expect(ids).toEqual(["e0", "e1", "e2", "e3", "e4"])
  })

  it("are refused when too many wait for a worker; the others have them", async () => {
    await using host = await startHost({ maxQueued: 1 })
    using slow = await RawWorker.open(host.address, { credits: 1 })
    using quick = await RawWorker.open(host.address)
    for (const [worker, type] of [
      [slow, "slow"],
      [quick, "quick"],
    ] as const) {
      await worker.register(type)
      await worker.subscribe("news", type)
    }
    using publisher = await RawWorker.open(host.address)
    const seqs = ["e1", "e2", "e3"].map((id) => publisher.publish("news", "k", id))
    const { notice } = await publisher.next(isRefusal)
    expect(notice?.refusals).toMatchObject([{ seq: seqs[2], code: "QUEUE_FULL" }])
    const ids = [await quick.next(isEvent), await quick.next(isEvent), await quick.next(isEvent)]
    expect(ids.map(({ cloudEvent }) => cloudEvent?.id)).toEqual(["e1", "e2", "e3"])
  })

  it("are refused without a topic, and when too large for a worker", async () => {
    await using host = await startHost({ maxMessageBytes: 100_000 })
    using worker = await RawWorker.open(host.address, { maxMessageBytes: 5000 })
    await worker.register("a")
    await worker.subscribe("news", "a")
    using publisher = await RawWorker.open(host.address)
    const first = publisher.publish("news", "")
    const second = publisher.link.send({
      cloudEvent: { id: "e", type: "news", source: "k", binary_data: Buffer.alloc(20_000) },
    })
    expect((await publisher.next(isRefusal)).notice?.refusals).toMatchObject([
      { seq: first, code: "TOPIC_ID_INVALID" },
    ])
    expect((await publisher.next(isRefusal)).notice?.refusals).toMatchObject([
      { seq: second, code: "MESSAGE_TOO_LARGE" },
    ])
  })

  it("can be called off by who published them, and by nobody else", async () => {
    await using host = await startHost()
    using worker = await RawWorker.open(host.address, { credits: 1 })
    await worker.register("a")
    await worker.subscribe("news", "a")
    using publisher = await RawWorker.open(host.address)
    publisher.publish("news", "k", "first")
    publisher.publish("news", "k", "waits")
    publisher.publish("news", "k", "last")
    await worker.next(isEvent)
    const cancel = (id: string) => ({ notice: { cancellations: [{ id, reason: "stop" }] } })
    worker.link.send(cancel("last"))
    for (const id of ["first", "waits"]) publisher.link.send(cancel(id))
    const told = [1, 2].map(
      async () => await worker.next(({ notice }) => (notice?.cancellations?.length ?? 0) > 0),
    )
    expect((await Promise.all(told)).map(({ notice }) => notice?.cancellations?.[0]?.id)).toEqual([
      "first",
      "waits",
    ])
    worker.link.send({ notice: { handled: 1 } })
    expect((await worker.next(isEvent)).cloudEvent?.id).toBe("last")
  })
})
