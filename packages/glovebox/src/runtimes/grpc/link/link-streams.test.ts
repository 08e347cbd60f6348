import { describe, expect, it } from "vitest"
import { GloveboxError } from "../../../core/glovebox-error.ts"
import { encodeMessage } from "../wire/codec.ts"
import { FullStream } from "./full-stream.test-kit.ts"
import { LinkEnd, requestOf } from "./linked-pair.test-kit.ts"

describe("a link and its streams", () => {
  it("sends a large frame in parts, with beats between them", () => {
    const end = new LinkEnd({ maxMessageBytes: 1024 * 1024 })
    const stream = new FullStream()
    end.link.attach(stream, 0)
    end.link.send(requestOf(1, 200_000))
    stream.drain()
    stream.emit("data", encodeMessage({ beat: { ping: 7 } }))
    stream.drain(5)
    const [first, second, ...others] = stream.messages
    expect(first).toMatchObject({ more: true, beat: { ping: 1, received: 0 } })
    expect(second).toMatchObject({ more: true, beat: { pong: 7 } })
    expect(others.map(({ more }) => more)).toEqual([true, false])
    expect(Math.max(...stream.written.map(({ length }) => length))).toBeLessThan(65_600)
    end.link.close()
  })

  it("begins a large frame again on the next stream", () => {
    const { link } = new LinkEnd()
    const [first, second] = [new FullStream(), new FullStream()]
    link.attach(first, 0)
    link.send(requestOf(1, 200_000))
    first.drain(2)
    link.detach()
    link.attach(second, 0)
    second.drain(10)
    const parts = second.messages.map(({ part }) => part ?? Buffer.alloc(0))
    expect(second.messages.map(({ more }) => more)).toEqual([true, true, true, false])
    // Compared by hand: to show how they differ would take seconds.
    expect(Buffer.concat(parts).equals(encodeMessage({ ...requestOf(1, 200_000), seq: 1 }))).toBe(true)
    link.close()
  })

  it("sends only what the other side lacks, and says again how far it was heard", async () => {
    const { link } = new LinkEnd()
    const [first, second] = [new FullStream(), new FullStream()]
    link.attach(first, 0)
    const received = link.whenReceived(link.send(requestOf(1)))
    link.send(requestOf(2))
    first.emit("data", encodeMessage({ ...requestOf("theirs"), seq: 1 }))
    first.drain()
    expect(first.messages).toMatchObject([{ beat: { received: 1 } }])
    link.attach(second, 1)
    await received
    second.drain()
    expect(second.messages).toMatchObject([{ request: { request_id: "2" }, seq: 2, beat: { received: 1 } }])
    link.close()
  })

  it("writes no more than a window of what is not acknowledged", () => {
    const maxQueuedBytes = 1024 * 1024
    const { link } = new LinkEnd({ maxQueuedBytes })
    const stream = new FullStream()
    link.attach(stream, 0)
    let sent = 0
    try {
      for (; sent < 1000; sent++) {
        link.send(requestOf(sent, 60_000))
        stream.drain()
      }
    } catch (error) {
      if (!GloveboxError.is(error, "QUEUE_FULL")) throw error
    }
    const sizeOf = (): number => stream.written.reduce((sum, { length }) => sum + length, 0)
    expect(sent).toBeLessThan(40)
    expect(sizeOf()).toBeLessThan(maxQueuedBytes + 70_000)
    const last = Math.max(...stream.messages.map(({ seq = 0 }) => seq))
    stream.emit("data", encodeMessage({ beat: { received: last } }))
    stream.drain(40)
    expect(sizeOf()).toBeGreaterThan(maxQueuedBytes * 1.5)
    link.close()
  })

  it("does not listen to a stream that it gave up", () => {
    const end = new LinkEnd()
    const [first, second] = [new FullStream(), new FullStream()]
    end.link.attach(first, 0)
    end.link.attach(second, 0)
    first.emit("data", encodeMessage({ ...requestOf(1), seq: 1 }))
    first.emit("error", new Error("late"))
    first.emit("end")
    first.drain()
    expect(first.written).toEqual([])
    expect(end.messages).toEqual([])
    expect(end.causes).toEqual([])
    expect(end.link.isAttached).toBe(true)
    end.link.close()
  })
})
