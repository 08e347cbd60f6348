import { describe, expect, it } from "vitest"
import { RawWorker, payload, textOf } from "./raw-worker.test-kit.ts"
import { startHost, until } from "./start-host.test-kit.ts"

describe("requests through a host", () => {
  it.each([true, false])("reach the agent, and the answer its caller (link: %s)", async (isLink) => {
    await using host = await startHost()
    using echo = (await RawWorker.open(host.address, { isLink })).echo()
    await echo.register("echo")
    using caller = await RawWorker.open(host.address, { isLink })
    expect(textOf(await caller.send("echo/1", { payload: payload("hi") }))).toBe("hi")
    expect(host.metrics()).toMatchObject({ requests: 1, responses: 1, refused: 0 })
  })

  it("have ids of their own between host and worker, so that those of callers may be the same", async () => {
    await using host = await startHost()
    using worker = await RawWorker.open(host.address, { isLink: false })
    await worker.register("slow")
    using one = await RawWorker.open(host.address, { isLink: false })
    using two = await RawWorker.open(host.address, { isLink: false })
    for (const caller of [one, two])
      caller.post("slow/1", { request_id: "1", payload: payload(caller.clientId) })
    const requests = [await worker.request(), await worker.request()]
    expect(new Set(requests.map((request) => request.request_id)).size).toBe(2)
    // In the other order, and a call of the worker to itself in between, as a nested call has it.
    worker.post("slow/2", { request_id: "1" })
    const nested = await worker.request()
    worker.link.send({ response: { request_id: nested.request_id, payload: payload("nested") } })
    expect(textOf(await worker.answerTo("1"))).toBe("nested")
    for (const { request_id, payload: same } of requests.toReversed()) {
      worker.link.send({ response: { request_id, payload: same } })
    }
    expect(textOf(await one.answerTo("1"))).toBe(one.clientId)
    expect(textOf(await two.answerTo("1"))).toBe(two.clientId)
  })

  it("keep source, method and metadata, with the time that is left", async () => {
    await using host = await startHost()
    using worker = await RawWorker.open(host.address)
    await worker.register("slow")
    const metadata = { traceparent: "00-1", "glovebox-timeout-ms": "60000" }
    worker.post("slow/1", { source: { type: "a", key: "b" }, method: "m", metadata })
    const request = await worker.request()
    expect(request).toMatchObject({
      source: { type: "a", key: "b" },
      target: { type: "slow", key: "1" },
      method: "m",
    })
    expect(request.metadata).toMatchObject({ traceparent: "00-1" })
    expect(Number(request.metadata?.["glovebox-timeout-ms"])).toBeLessThanOrEqual(60_000)
  })

  it.each([
    ["nobody/1", "AGENT_TYPE_UNKNOWN", /No worker has registered the agent type nobody/],
    ["pair/other", "AGENT_UNKNOWN", /No worker has the agent pair\/other/],
    ["/1", "AGENT_ID_INVALID", /names no valid agent id/],
    ["pair/", "AGENT_ID_INVALID", /names no valid agent id/],
  ])("to %s are answered at once with %s", async (target, code, text) => {
    await using host = await startHost()
    using worker = await RawWorker.open(host.address)
    await worker.register("pair", ["left"])
    const response = await worker.send(target)
    expect(response.metadata).toEqual({ "glovebox-error-code": code })
    expect(response.error).toMatch(text)
  })

  it("get an error when the answer has neither payload nor text, unless the handler said nothing", async () => {
    await using host = await startHost()
    using worker = await RawWorker.open(host.address, { isLink: false })
    await worker.register("mute")
    const [empty, nothing] = [worker.post("mute/1"), worker.post("mute/1")]
    const requests = [await worker.request(), await worker.request()]
    worker.link.send({ response: { request_id: requests[0]?.request_id ?? "" } })
    worker.link.send({
      response: { request_id: requests[1]?.request_id ?? "", metadata: { "glovebox-empty": "1" } },
    })
    expect(await worker.answerTo(empty)).toMatchObject({
      error: "The agent failed without a text.",
      metadata: { "glovebox-error-code": "AGENT_FAILED" },
    })
    expect(await worker.answerTo(nothing)).toMatchObject({ error: "", metadata: { "glovebox-empty": "1" } })
  })

  it("end at their deadline: the caller has SEND_TIMEOUT, the worker a cancellation, and a late answer is ignored", async () => {
    await using host = await startHost()
    using worker = await RawWorker.open(host.address)
    await worker.register("slow")
    using caller = await RawWorker.open(host.address)
    const id = caller.post("slow/1", { metadata: { "glovebox-timeout-ms": "30" } })
    const { request_id } = await worker.request()
    const response = await caller.answerTo(id)
    expect(response.metadata).toEqual({ "glovebox-error-code": "SEND_TIMEOUT" })
    expect(response.error).toBe("slow/1 did not answer within 30 ms.")
    const { notice } = await worker.next((message) => (message.notice?.cancellations?.length ?? 0) > 0)
    expect(notice?.cancellations?.[0]).toMatchObject({ id: request_id })
    expect(host.status().workers[0]).toMatchObject({ outstanding: 1 })
    worker.link.send({ response: { request_id, payload: payload("late") } })
    await until(() => host.metrics().strayResponses === 1)
    expect(host.status().workers[0]).toMatchObject({ outstanding: 0 })
    expect(caller.received.filter((message) => message.response)).toEqual([])
  })

  it("that bring no deadline have the host's", async () => {
    await using host = await startHost({ requestTimeoutMs: 20 })
    using worker = await RawWorker.open(host.address, { isLink: false })
    await worker.register("slow")
    expect((await worker.send("slow/1")).metadata).toEqual({ "glovebox-error-code": "SEND_TIMEOUT" })
  })

  it("are called off at the worker when the caller says so, or is gone", async () => {
    await using host = await startHost()
    using worker = await RawWorker.open(host.address)
    await worker.register("slow")
    using caller = await RawWorker.open(host.address)
    using plain = await RawWorker.open(host.address, { isLink: false })
    const id = caller.post("slow/1")
    const first = await worker.request()
    caller.link.send({ notice: { cancellations: [{ id, reason: "enough" }] } })
    const told = await worker.next((message) => (message.notice?.cancellations?.length ?? 0) > 0)
    expect(told.notice?.cancellations?.[0]).toMatchObject({ id: first.request_id, reason: "enough" })
    plain.post("slow/1")
    const second = await worker.request()
    plain.close()
    const left = await worker.next((message) => (message.notice?.cancellations?.length ?? 0) > 0)
    expect(left.notice?.cancellations?.[0]).toMatchObject({ id: second.request_id })
    expect(host.status().pending).toBe(0)
  })

  it("are answered with WORKER_LOST when the worker dies with them", async () => {
    await using host = await startHost({ graceMs: 50 })
    using caller = await RawWorker.open(host.address)
    for (const isLink of [true, false]) {
      using worker = await RawWorker.open(host.address, { isLink })
      await worker.register("mortal")
      const id = caller.post("mortal/1")
      await worker.request()
      worker.stream?.cancel()
      const response = await caller.answerTo(id)
      expect(response.metadata).toEqual({ "glovebox-error-code": "WORKER_LOST" })
      expect(response.error).toMatch(/mortal\/1 was lost or left before it answered/)
    }
    expect((await caller.send("mortal/1")).metadata).toEqual({ "glovebox-error-code": "AGENT_TYPE_UNKNOWN" })
    expect(host.metrics().workersLost).toBe(2)
  })

  it("are refused when they are larger than the worker takes, and so are answers", async () => {
    await using host = await startHost({ maxMessageBytes: 200_000 })
    using small = await RawWorker.open(host.address, { maxMessageBytes: 10_000 })
    await small.register("small")
    using large = (await RawWorker.open(host.address)).echo()
    await large.register("large")
    const big = { payload: payload("x".repeat(50_000)) }
    const refused = await large.send("small/1", big)
    expect(refused.metadata).toEqual({ "glovebox-error-code": "MESSAGE_TOO_LARGE" })
    large.onMessage = ({ request }) => {
      if (request) large.link.send({ response: { request_id: request.request_id, payload: big.payload } })
    }
    expect((await small.send("large/1")).metadata).toEqual({ "glovebox-error-code": "MESSAGE_TOO_LARGE" })
    expect(textOf(await large.send("large/1"))).toHaveLength(50_000)
  })

  it("that nobody made are not answered: a response without a request does nothing", async () => {
    await using host = await startHost()
    using worker = await RawWorker.open(host.address)
    using other = await RawWorker.open(host.address)
    await worker.register("slow")
    const id = other.post("slow/1")
    const { request_id } = await worker.request()
    // Of another worker than the one that was asked.
    other.link.send({ response: { request_id, payload: payload("forged") } })
    worker.link.send({ response: { request_id: "made up", payload: payload("forged") } })
    await until(() => host.metrics().strayResponses === 2)
    worker.link.send({ response: { request_id, payload: payload("true") } })
    expect(textOf(await other.answerTo(id))).toBe("true")
  })
})
