import { setImmediate as tick } from "node:timers/promises"
import { Metadata } from "@grpc/grpc-js"
import { describe, expect, it } from "vitest"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import { failureOf } from "../../../core/failure-of.test-kit.ts"
import { GloveboxError } from "../../../core/glovebox-error.ts"
import { decodeMessage } from "../wire/codec.ts"
import { LinkEnd, LinkedPair, openLoopback, requestOf } from "./linked-pair.test-kit.ts"

const MEBIBYTE = 1024 * 1024

describe("a link's bounds", () => {
  it("refuses more than may wait, and takes more when there is room", async () => {
    let rooms = 0
    await using pair = new LinkedPair({ maxQueued: 3, onRoom: () => rooms++ })
    const { link } = pair.worker
    for (let id = 1; id <= 3; id++) link.send(requestOf(id))
    expect(failureOf(() => link.send(requestOf(4)))).toMatch(/^QUEUE_FULL: 3 messages \(\d+ bytes\) wait/)
    expect(link.send({ response: { request_id: "r" } })).toBe(4)
    expect(link.send({ notice: { handled: 1 } })).toBe(5)
    expect(link.queued).toBe(5)
    await pair.join()
    await pair.host.whenGot(5)
    expect(link.queued).toBe(0)
    expect(link.queuedBytes).toBe(0)
    expect(rooms).toBe(1)
    expect(link.send(requestOf(6))).toBe(6)
  })

  it("counts bytes too, but takes a single frame of any size", async () => {
    const { link } = new LinkEnd({ maxQueuedBytes: 1000 })
    link.send(requestOf(1, 5000))
    expect(failureOf(() => link.send(requestOf(2)))).toMatch(/^QUEUE_FULL/)
    link.close()
  })

  it("waits for a slow reader with bounded memory, and loses nothing", async () => {
    await using pair = new LinkedPair({ maxQueued: 50, maxQueuedBytes: 2 * MEBIBYTE, heartbeatMs: 60_000 })
    const { server } = await pair.join()
    const { link } = pair.worker
    server.pause()
    let sent = 0
    const fill = async (): Promise<void> => {
      for (let idle = 0; idle < 20; idle++) {
        try {
          for (;;) {
            link.send(requestOf(sent + 1, 64 * 1024))
            sent++
            idle = 0
          }
        } catch (error) {
          if (!GloveboxError.is(error, "QUEUE_FULL")) throw error
        }
        await tick()
      }
    }
    await fill()
    // What waits, the window of what is unacknowledged, and the one frame that goes beyond each.
    expect(sent).toBeLessThanOrEqual((2 * 2 * MEBIBYTE) / (64 * 1024) + 4)
    server.resume()
    await pair.host.whenGot(sent)
    expect(pair.host.requestIds.at(-1)).toBe(String(sent))
  })

  it("breaks when the other side never reads, and answers pile up", () => {
    const end = new LinkEnd({ maxQueued: 2 })
    for (let id = 0; id < 16; id++) end.link.send({ response: { request_id: String(id) } })
    expect(failureOf(() => end.link.send({ response: { request_id: "x" } }))).toMatch(/^QUEUE_FULL/)
    expect(end.link.reset()).toHaveLength(16)
    expect(end.link.send(requestOf(1))).toBe(1)
  })

  it("refuses a message that the other side does not take", async () => {
    await using pair = new LinkedPair({ maxMessageBytes: 1000 })
    const { link } = pair.worker
    expect(failureOf(() => link.send(requestOf(1, 1000)))).toMatch(/^MESSAGE_TOO_LARGE: .*takes 1000 bytes/)
    link.send(requestOf(1, 500))
    await pair.join()
    await pair.host.whenGot(1)
  })

  it("gives up a waiting message when the stream's other side takes less", async () => {
    const tooLarge: unknown[] = []
    const end = new LinkEnd({ onTooLarge: (message) => tooLarge.push(message.request?.request_id) })
    const peer = new LinkEnd()
    await using loopback = await openLoopback((stream) => peer.link.attach(stream, 0))
    const refused = end.link.whenReceived(end.link.send(requestOf(1, 5000)))
    end.link.send(requestOf(2))
    const failure = expectFailure(refused, "MESSAGE_TOO_LARGE")
    end.link.attach(loopback.client.openChannel(new Metadata()), 0, { maxMessageBytes: 2000 })
    await failure
    await peer.whenGot(2)
    expect(tooLarge).toEqual(["1"])
    expect(peer.messages).toMatchObject([{ notice: {} }, { request: { request_id: "2" } }])
    end.link.close()
    peer.link.close()
  })

  it("stays bounded and in order over many frames both ways", async () => {
    await using pair = new LinkedPair({}, { onMessage: (message) => pair.host.link.send(message) })
    await pair.join()
    const total = 1000
    for (let id = 1; id <= total; id++) {
      pair.worker.link.send(requestOf(id))
      if (id % 100 === 0) await tick()
    }
    await pair.worker.whenGot(total)
    expect(pair.worker.requestIds.every((id, index) => id === String(index + 1))).toBe(true)
  })
})

describe("a plain link", () => {
  it("writes bare messages one by one, and sends no notices", async () => {
    const end = new LinkEnd({ isPlain: true })
    const wire: Buffer[] = []
    await using loopback = await openLoopback((stream) => {
      stream.on("data", (bytes: Buffer) => {
        wire.push(bytes)
        stream.write(bytes)
      })
    })
    const written = end.link.whenReceived(end.link.send({ ...requestOf(1), targets: ["a"] }))
    end.link.send({ notice: { handled: 1 } })
    end.link.send(requestOf(2))
    end.link.attach(loopback.client.openChannel(new Metadata()), 0)
    await written
    await end.whenGot(2)
    expect(end.requestIds).toEqual(["1", "2"])
    expect(end.link.queued).toBe(0)
    for (const message of wire.map((bytes) => decodeMessage(bytes))) {
      expect(message).toMatchObject({ seq: 0, beat: null, notice: null, batch: [], targets: [] })
    }
    end.link.close()
  })

  it("waits for a slow reader, and refuses more than may wait", async () => {
    const end = new LinkEnd({ isPlain: true, maxQueued: 10 })
    const peer = new LinkEnd({ isPlain: true })
    await using loopback = await openLoopback((stream) => peer.link.attach(stream, 0))
    for (let id = 1; id <= 10; id++) end.link.send(requestOf(id, 100_000))
    expect(failureOf(() => end.link.send(requestOf(11)))).toMatch(/^QUEUE_FULL/)
    end.link.attach(loopback.client.openChannel(new Metadata()), 0)
    await peer.whenGot(10)
    expect(peer.requestIds).toEqual(["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"])
    end.link.close()
    peer.link.close()
  })
})
