import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { gate } from "../core/gate.test-kit.ts"
import { abortableStream } from "./abortable-stream.ts"

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
})

afterEach(() => {
  vi.useRealTimers()
})

const reason = new Error("enough")

/** Yields once, then does not look at anything until it is let go. */
function deaf(): {
  stream: AsyncGenerator<string, string, undefined>
  letGo: () => void
  ended: Promise<void>
} {
  const [held, ended] = [gate(), gate()]
  const stream = (async function* () {
    try {
      yield "a"
      await held.promise
      return "over"
    } finally {
      ended.open()
    }
  })()
  return { stream, letGo: held.open, ended: ended.promise }
}

describe("abortableStream", () => {
  it("gives what the stream yields, and what it returns", async () => {
    const { stream, letGo } = deaf()
    const read = abortableStream(stream, { signal: new AbortController().signal })
    letGo()
    expect([await read.next(), await read.next()]).toEqual([
      { done: false, value: "a" },
      { done: true, value: "over" },
    ])
  })

  it("rejects with the reason of an abort, though the stream does not look at it", async () => {
    const controller = new AbortController()
    const read = abortableStream(deaf().stream, { signal: controller.signal })
    await read.next()
    const next = read.next()
    controller.abort(reason)
    await expect(next).rejects.toBe(reason)
  })

  it("lets a stream end what it does after an abort, for as long as it may", async () => {
    const controller = new AbortController()
    const { stream, letGo, ended } = deaf()
    const read = abortableStream(stream, { signal: controller.signal, graceMs: 1000 })
    await read.next()
    let isOver = false
    void ended.then(() => (isOver = true))
    const next = read.next()
    controller.abort(reason)
    letGo()
    await expect(next).rejects.toBe(reason)
    expect([isOver, vi.getTimerCount()]).toEqual([true, 0])

    const other = abortableStream(deaf().stream, { signal: controller.signal, graceMs: 1000 })
    const late = other.next()
    late.catch(() => {})
    await vi.advanceTimersByTimeAsync(1000)
    await expect(late).rejects.toBe(reason)
  })

  it("ends the stream when it is left", async () => {
    const { stream, ended } = deaf()
    for await (const _ of abortableStream(stream, { signal: new AbortController().signal })) break
    await ended
    expect(await stream.next()).toEqual({ done: true, value: undefined })
  })

  it("passes on what the stream throws", async () => {
    const stream = (async function* () {
      yield await Promise.reject<string>(reason)
    })()
    const read = abortableStream(stream, { signal: new AbortController().signal, graceMs: 1000 })
    await expect(read.next()).rejects.toBe(reason)
    expect(vi.getTimerCount()).toBe(0)
  })
})
