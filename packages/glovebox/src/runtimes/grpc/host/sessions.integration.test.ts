import { describe, expect, it } from "vitest"
import type { WireMessage } from "../wire/wire-message.ts"
import { RawWorker, payload, textOf } from "./raw-worker.test-kit.ts"
import { startHost, until } from "./start-host.test-kit.ts"

const isEvent = ({ cloudEvent }: WireMessage): boolean => Boolean(cloudEvent)

describe("a session of a link worker", () => {
  it("goes on over a new stream: what was sent meanwhile arrives once, answers too", async () => {
    await using host = await startHost({ graceMs: 5000 })
    using worker = await RawWorker.open(host.address)
    await worker.register("a")
    await worker.subscribe("news", "a")
    using caller = await RawWorker.open(host.address)
    const before = caller.post("a/1", { payload: payload("before") })
    const first = await worker.request()
    worker.cut()
    await until(() => host.status().workers[0]?.state === "away")
    const during = caller.post("a/1", { payload: payload("during") })
    caller.publish("news", "k", "e")
    await until(() => host.status().workers[0]?.queued === 2)
    // Sent while there is no connection.
    worker.link.send({ response: { request_id: first.request_id, payload: payload("answer") } })
    await worker.connect()
    expect(worker.isResumed).toBe(true)
    expect(textOf(await caller.answerTo(before))).toBe("answer")
    const { request_id, payload: same } = await worker.request()
    worker.link.send({ response: { request_id, payload: same } })
    expect(textOf(await caller.answerTo(during))).toBe("during")
    expect((await worker.next(isEvent)).cloudEvent?.id).toBe("e")
    expect(host.metrics()).toMatchObject({ resumed: 1, workersLost: 0, requests: 2, responses: 2 })
    expect(host.status().workers).toMatchObject([{ state: "open", agentTypes: ["a"] }, {}])
  })

  it("takes the place of a stream that is still open", async () => {
    await using host = await startHost({ graceMs: 5000 })
    using worker = (await RawWorker.open(host.address)).echo()
    await worker.register("a")
    const old = worker.stream
    await worker.connect()
    expect(worker.isResumed).toBe(true)
    expect(worker.stream).not.toBe(old)
    expect((await worker.send("a/1")).error).toBe("")
  })

  it("is over after the grace time: requests that were written are lost, others find another worker", async () => {
    await using host = await startHost({ graceMs: 200 })
    using first = await RawWorker.open(host.address, { credits: 1 })
    await first.register("a")
    using caller = await RawWorker.open(host.address)
    const written = caller.post("a/1")
    await first.request()
    const queued = caller.post("a/1", { payload: payload("again") })
    await until(() => host.status().workers[0]?.queued === 1)
    using second = (await RawWorker.open(host.address)).echo()
    await second.register("a")
    first.cut()
    expect((await caller.answerTo(written)).metadata).toEqual({ "glovebox-error-code": "WORKER_LOST" })
    expect(textOf(await caller.answerTo(queued))).toBe("again")
    await first.connect()
    expect(first.isResumed).toBe(false)
    expect(host.status().workers.find(({ clientId }) => clientId === first.clientId)?.agentTypes).toEqual([])
  })

  it("is dropped by the host when the worker falls silent", async () => {
    await using host = await startHost({ heartbeatMs: 20, graceMs: 50 })
    using worker = new RawWorker(host.address)
    // A stream that nobody reads.
    const stream = worker.client.openChannel(worker.metadata({ "glovebox-link": "1" }))
    stream.on("error", () => {})
    await until(() => host.status().workers[0]?.state === "away")
    await until(() => host.status().workers.length === 0)
    expect(host.metrics().workersLost).toBe(1)
  })

  it("begins anew when the worker's numbers are not the host's", async () => {
    await using host = await startHost({ graceMs: 5000 })
    using worker = await RawWorker.open(host.address)
    await worker.register("a")
    const metadata = worker.metadata({ "glovebox-link": "1", "glovebox-received": "12345" })
    const stream = worker.client.openChannel(metadata)
    stream.on("error", () => {})
    const headers = await new Promise<RawWorker["headers"]>((resolve) => stream.on("metadata", resolve))
    expect(headers.get("glovebox-resumed")).toEqual(["0"])
    expect(host.status().workers).toMatchObject([{ agentTypes: [], state: "open" }])
    stream.cancel()
  })

  it("ends at once when the worker says bye", async () => {
    await using host = await startHost({ graceMs: 60_000 })
    using worker = await RawWorker.open(host.address)
    await worker.register("a")
    await worker.subscribe("news", "a")
    using caller = await RawWorker.open(host.address)
    const id = caller.post("a/1")
    await worker.request()
    worker.link.send({ notice: { leave: "bye" } })
    expect((await caller.answerTo(id)).metadata).toEqual({ "glovebox-error-code": "WORKER_LOST" })
    expect(host.status()).toMatchObject({
      workers: [{ clientId: caller.clientId }],
      subscriptions: 0,
      agents: 0,
    })
    expect(host.metrics().workersLost).toBe(0)
  })

  it("drains: what its handlers wait for still comes, what is new waits, and goes elsewhere when it left", async () => {
    await using host = await startHost()
    using old = await RawWorker.open(host.address)
    await old.register("a")
    using caller = await RawWorker.open(host.address)
    const running = caller.post("a/1")
    const request = await old.request()
    old.link.send({ notice: { leave: "drain" } })
    await until(() => host.status().workers[0]?.state === "draining")
    using fresh = (await RawWorker.open(host.address)).echo()
    await fresh.register("a")
    const same = caller.post("a/1", { payload: payload("same") })
    // Another agent has no place yet.
    expect(textOf(await caller.send("a/2", { payload: payload("other") }))).toBe("other")
    const nested = old.post("a/1", {
      metadata: { "glovebox-chain": `${old.clientId}:1` },
      payload: payload("nested"),
    })
    const inner = await old.request()
    old.link.send({ response: { request_id: inner.request_id, payload: inner.payload } })
    expect(textOf(await old.answerTo(nested))).toBe("nested")
    old.link.send({ response: { request_id: request.request_id, payload: payload("done") } })
    expect(textOf(await caller.answerTo(running))).toBe("done")
    old.link.send({ notice: { removed: [{ type: "a", key: "1" }] } })
    expect(textOf(await caller.answerTo(same))).toBe("same")
    expect(old.received.filter((message) => message.request)).toEqual([])
  })
})
