import { setImmediate as tick } from "node:timers/promises"
import { Metadata } from "@grpc/grpc-js"
import { describe, expect, it } from "vitest"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import { failureOf } from "../../../core/failure-of.test-kit.ts"
import { decodeMessage, encodeMessage } from "../wire/codec.ts"
import { LinkEnd, LinkedPair, openLoopback, requestOf } from "./linked-pair.test-kit.ts"

describe("Link", () => {
  it("joins frames of one tick, and takes them apart again", async () => {
    await using pair = new LinkedPair()
    const { server } = await pair.join()
    const wire: Buffer[] = []
    server.on("data", (bytes: Buffer) => wire.push(bytes))
    for (let id = 1; id <= 100; id++) pair.worker.link.send(requestOf(id))
    await pair.host.whenGot(100)
    expect(wire.filter((bytes) => decodeMessage(bytes).batch?.length).length).toBeLessThanOrEqual(2)
    expect(pair.host.messages.map(({ seq }) => seq)).toEqual(
      Array.from({ length: 100 }, (_, index) => index + 1),
    )
  })

  it("never makes a batch that the other side does not take", async () => {
    await using pair = new LinkedPair({ maxMessageBytes: 1000 })
    const { server } = await pair.join()
    const sizes: number[] = []
    server.on("data", (bytes: Buffer) => sizes.push(bytes.length))
    for (let id = 1; id <= 50; id++) pair.worker.link.send(requestOf(id, 150))
    await pair.host.whenGot(50)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1000)
    expect(sizes.length).toBeLessThan(20)
  })

  it("answers no acknowledgement with another, which would double what is written", async () => {
    await using pair = new LinkedPair()
    const { client, server } = await pair.join()
    let [toHost, toWorker] = [0, 0]
    server.on("data", () => (toHost += 1))
    client.on("data", () => (toWorker += 1))
    for (let id = 1; id <= 40; id++) {
      pair.worker.link.send(requestOf(id))
      await pair.host.whenGot(id)
      // An answer takes its time, so that what is written at once is without it.
      await tick()
      await tick()
      pair.host.link.send({ response: { request_id: String(id) } })
      await pair.worker.whenGot(id)
    }
    // Some may be told alone, where the machine was slow.
    expect(toHost).toBeLessThan(60)
    expect(toWorker).toBeLessThan(60)
  })

  it("takes only the content of a message that came over another link", async () => {
    await using pair = new LinkedPair()
    await pair.join()
    pair.worker.link.send({
      ...requestOf(1),
      seq: 77,
      beat: { received: 5 },
      batch: [requestOf(2)],
      targets: ["a"],
    })
    await pair.host.whenGot(1)
    expect(pair.host.messages[0]).toMatchObject({ seq: 1, targets: ["a"], request: { request_id: "1" } })
    expect(pair.host.requestIds).toEqual(["1"])
  })

  it("puts a large frame together again", async () => {
    await using pair = new LinkedPair()
    await pair.join()
    pair.worker.link.send(requestOf(1, 3 * 1024 * 1024))
    pair.worker.link.send(requestOf(2))
    await pair.host.whenGot(2)
    expect(pair.host.requestIds).toEqual(["1", "2"])
    expect(pair.host.messages[0]?.request?.payload?.data).toHaveLength(3 * 1024 * 1024)
  })

  it("drops a stream whose parts become too large", async () => {
    await using pair = new LinkedPair({}, { maxReceivedBytes: 100_000 })
    await pair.join()
    pair.worker.link.send(requestOf(1, 200_000))
    await pair.host.until(() => pair.host.causes.length > 0)
    expect(pair.host.causes).toMatchObject([{ code: "MESSAGE_TOO_LARGE" }])
    expect(pair.host.messages).toEqual([])
  })

  it("drops a frame that comes again", async () => {
    const end = new LinkEnd()
    await using loopback = await openLoopback((stream) => end.link.attach(stream, 0))
    const client = loopback.client.openChannel(new Metadata()).on("error", () => {})
    for (const seq of [1, 1, 2, 1, 2, 3]) client.write(encodeMessage({ ...requestOf(seq), seq }))
    await end.whenGot(3)
    expect(end.requestIds).toEqual(["1", "2", "3"])
    end.link.close()
  })

  it("tells when the other side has a frame", async () => {
    await using pair = new LinkedPair({}, { acksEventsAtOnce: true })
    const written: string[] = []
    const first = pair.worker.link.send(requestOf(1), { onWritten: () => written.push("1") })
    const received = pair.worker.link.whenReceived(first)
    expect(written).toEqual([])
    await pair.join()
    await received
    expect(written).toEqual(["1"])
    expect(pair.host.requestIds).toEqual(["1"])
    await pair.worker.link.whenReceived(first)
    const event = pair.worker.link.send({ cloudEvent: { id: "e", source: "s", type: "t" } })
    await pair.worker.link.whenReceived(event)
    expect(pair.host.messages[1]).toMatchObject({ cloudEvent: { id: "e" } })
    await expectFailure(pair.worker.link.whenReceived(99), "CONNECTION_LOST")
  })

  it("leaves a wait at its signal", async () => {
    const { link } = new LinkEnd()
    const controller = new AbortController()
    const received = link.whenReceived(link.send(requestOf(1)), controller.signal)
    controller.abort(new Error("enough"))
    await expect(received).rejects.toThrow("enough")
    link.close()
  })

  it("gives back what was not acknowledged, and begins to count anew", async () => {
    await using pair = new LinkedPair()
    const { server } = await pair.join()
    const { link } = pair.worker
    await link.whenReceived(link.send(requestOf(1)))
    server.pause()
    const lost = link.whenReceived(link.send(requestOf(2)))
    await tick()
    link.detach()
    const unsent = link.whenReceived(link.send(requestOf(3)))
    const failures = Promise.all([
      expectFailure(lost, "CONNECTION_LOST"),
      expectFailure(unsent, "HOST_UNAVAILABLE"),
    ])
    expect(link.reset()).toMatchObject([
      { seq: 2, isWritten: true, message: { request: { request_id: "2" } } },
      { seq: 3, isWritten: false, message: { request: { request_id: "3" } } },
    ])
    await failures
    expect(link.received).toBe(0)
    expect(link.send(requestOf(4))).toBe(1)
    pair.host.link.reset()
    await pair.join()
    await pair.host.until(() => pair.host.requestIds.includes("4"))
    expect(pair.host.requestIds.filter((id) => id === "4")).toHaveLength(1)
  })

  it("refuses to go on with a side that has other messages", async () => {
    await using pair = new LinkedPair()
    const { client } = await pair.join()
    const { link } = pair.worker
    expect(failureOf(() => link.attach(client, 1))).toMatch(
      /^CONNECTION_LOST: .*has 1 messages; it can be 0 to 0/,
    )
    await link.whenReceived(link.send(requestOf(1)))
    expect(failureOf(() => link.attach(client, 0))).toMatch(/^CONNECTION_LOST/)
    expect(failureOf(() => link.attach(client, Number.NaN))).toMatch(/^CONNECTION_LOST/)
  })

  it.each([
    ["a gap", encodeMessage({ ...requestOf(2), seq: 2 })],
    ["a frame without a number", encodeMessage(requestOf(1))],
    ["a fraction", encodeMessage({ ...requestOf(1), seq: 0.5 })],
    ["a receipt for what was never sent", encodeMessage({ beat: { received: 5 } })],
    ["garbage", Buffer.from([0x0a, 0xff, 0xff, 0xff, 0x7f])],
    ["a batch that ends early", Buffer.from([0xc2, 0x06, 0x50, 0x01])],
  ])("drops a stream that brings %s", async (_name, bytes) => {
    const end = new LinkEnd()
    await using loopback = await openLoopback((stream) => end.link.attach(stream, 0))
    const client = loopback.client.openChannel(new Metadata())
    const ended = new Promise((resolve) => client.on("error", resolve))
    client.write(bytes)
    await end.until(() => end.causes.length > 0)
    expect(end.link.isAttached).toBe(false)
    expect(end.messages).toEqual([])
    expect(await ended).toMatchObject({ code: 10 })
    end.link.close()
  })

  it("drops a stream whose messages nobody can take, and counts the message as received", async () => {
    let isFirst = true
    await using pair = new LinkedPair(
      {},
      {
        onMessage: () => {
          if (isFirst) throw new Error(String((isFirst = false)))
        },
      },
    )
    await pair.join()
    pair.worker.link.send(requestOf(1))
    pair.worker.link.send(requestOf(2))
    await pair.worker.until(() => pair.worker.causes.length > 0)
    expect(pair.host.causes).toMatchObject([{ message: "false" }])
    await pair.join()
    await pair.host.whenGot(2)
    expect(pair.host.requestIds).toEqual(["1", "2"])
  })

  it("finds that the other side fell silent", async () => {
    const end = new LinkEnd({ heartbeatMs: 10 })
    await using loopback = await openLoopback((stream) => stream.sendMetadata(new Metadata()))
    end.link.attach(loopback.client.openChannel(new Metadata()), 0)
    await end.until(() => end.causes.length > 0)
    expect(end.causes).toMatchObject([
      { code: "CONNECTION_LOST", message: "Nothing was heard from the other side." },
    ])
    expect(end.link.lastAnsweredPingSentAt).toBe(0)
  })

  it("stays joined while both sides only beat, and knows when it was last answered", async () => {
    await using pair = new LinkedPair({ heartbeatMs: 10 }, { heartbeatMs: 10 })
    const before = performance.now()
    const { client } = await pair.join()
    for (let beats = 0; beats < 6; beats++) await new Promise((resolve) => client.once("data", resolve))
    expect(pair.worker.link.isAttached).toBe(true)
    expect(pair.worker.link.lastAnsweredPingSentAt).toBeGreaterThan(before)
    expect(pair.worker.causes).toEqual([])
  })

  it("tells the other side that it was closed, after what it still had to say", async () => {
    await using pair = new LinkedPair()
    await pair.join()
    pair.worker.link.send({ notice: { leave: "bye" } })
    const waiting = pair.worker.link.whenReceived(1)
    pair.worker.link.close()
    pair.worker.link.close()
    await expectFailure(waiting, "CONNECTION_LOST")
    await pair.host.until(() => pair.host.causes.length > 0)
    expect(pair.host.messages).toMatchObject([{ notice: { leave: "bye" } }])
    expect(failureOf(() => pair.worker.link.send(requestOf(1)))).toMatch(/^CONNECTION_LOST/)
  })
})
