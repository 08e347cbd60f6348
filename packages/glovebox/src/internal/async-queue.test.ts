import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { AsyncQueue } from "./async-queue.ts"

async function drain<T>(queue: AsyncQueue<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of queue) items.push(item)
  return items
}

/** Whether a promise has settled once everything that can go on has gone on. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const turn = new Promise((resolve) => setImmediate(resolve, "pending"))
  return (await Promise.race([promise.then(() => "settled"), turn])) === "settled"
}

describe("AsyncQueue", () => {
  it("gives what was pushed before and during the loop, in order, up to the close", async () => {
    const queue = new AsyncQueue<number>({ limit: 10 })
    queue.push(1)
    const all = drain(queue)
    queue.push(2)
    await Promise.resolve()
    queue.push(3)
    queue.close()
    queue.push(4)
    expect(await all).toEqual([1, 2, 3])
  })

  it("tells when it is full, and when there is room again", async () => {
    const calls: string[] = []
    const queue = new AsyncQueue<string>({
      limit: 10,
      onFull: () => calls.push("full"),
      onDrain: () => calls.push("drain"),
    })
    expect([queue.push("a", 4), queue.push("b", 6), queue.push("c", 20), queue.weight]).toEqual([
      true,
      false,
      false,
      30,
    ])
    const iterator = queue[Symbol.asyncIterator]()
    const room = queue.room()
    await iterator.next()
    await iterator.next()
    expect(calls).toEqual(["full"])
    expect(await isSettled(room)).toBe(false)
    await iterator.next()
    expect(calls).toEqual(["full", "drain"])
    await room
    await queue.room()
    expect([queue.weight, queue.push("d", 10), queue.weight]).toEqual([0, false, 10])
    expect(calls).toEqual(["full", "drain", "full"])
  })

  it("counts nothing that a waiting consumer takes at once", async () => {
    const queue = new AsyncQueue<string>({ limit: 1, onFull: () => expect.fail("was full") })
    const next = queue[Symbol.asyncIterator]().next()
    expect([queue.push("a", 100), queue.weight]).toEqual([true, 0])
    expect(await next).toEqual({ done: false, value: "a" })
  })

  it("fails after what was queued, once", async () => {
    const queue = new AsyncQueue<number>({ limit: 10 })
    queue.push(1)
    queue.fail(new Error("broken"))
    queue.fail(new Error("again"))
    queue.close()
    const iterator = queue[Symbol.asyncIterator]()
    expect(await iterator.next()).toEqual({ done: false, value: 1 })
    await expect(iterator.next()).rejects.toThrow("broken")
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
  })

  it("fails a consumer that waits", async () => {
    const queue = new AsyncQueue<number>({ limit: 10 })
    const iterator = queue[Symbol.asyncIterator]()
    const waiting = [iterator.next(), iterator.next()]
    queue.fail(new Error("broken"))
    await expect(waiting[0]).rejects.toThrow("broken")
    expect(await waiting[1]).toEqual({ done: true, value: undefined })
  })

  it("answers waiting calls in order, and ends them with the close", async () => {
    const queue = new AsyncQueue<number>({ limit: 10 })
    const iterator = queue[Symbol.asyncIterator]()
    const waiting = [iterator.next(), iterator.next(), iterator.next()]
    queue.push(1)
    queue.push(2)
    queue.close()
    expect((await Promise.all(waiting)).map(({ value }) => value)).toEqual([1, 2, undefined])
  })

  it("waits for onReturn when the loop is left, then drops what comes and holds nobody up", async () => {
    const calls: string[] = []
    const queue = new AsyncQueue<number>({
      limit: 2,
      onDrain: () => calls.push("drain"),
      onReturn: async () => {
        await Promise.resolve()
        calls.push("returned")
      },
    })
    for (const item of [1, 2, 3]) queue.push(item)
    const room = queue.room()
    for await (const item of queue) {
      expect(item).toBe(1)
      break
    }
    expect(calls).toEqual(["drain", "returned"])
    await room
    expect([queue.push(4, 100), queue.weight]).toEqual([true, 0])
    queue.fail(new Error("late"))
    await queue.room()
  })

  it("ends a waiting call when the consumer leaves, and calls onReturn once", async () => {
    let returns = 0
    const queue = new AsyncQueue<number>({ limit: 2, onReturn: () => void (returns += 1) })
    const iterator = queue[Symbol.asyncIterator]()
    const waiting = iterator.next()
    await Promise.all([iterator.return?.(), iterator.return?.()])
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
    expect(returns).toBe(1)
  })

  it("does not call onReturn at the end", async () => {
    const queue = new AsyncQueue<number>({ limit: 2, onReturn: () => expect.fail("nobody left") })
    queue.push(1)
    queue.close()
    const iterator = queue[Symbol.asyncIterator]()
    await iterator.next()
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined })
  })

  it("passes on what onReturn throws", async () => {
    const queue = new AsyncQueue<number>({ limit: 2, onReturn: () => Promise.reject(new Error("stuck")) })
    await expect(queue[Symbol.asyncIterator]().return?.()).rejects.toThrow("stuck")
  })

  it("lets a producer go that waits for room when it is closed", async () => {
    const queue = new AsyncQueue<number>({ limit: 1 })
    queue.push(1)
    const room = queue.room()
    queue.close()
    await room
    await queue.room()
    expect(await drain(queue)).toEqual([1])
  })

  it("has one consumer", () => {
    const queue = new AsyncQueue<number>({ limit: 1 })
    queue[Symbol.asyncIterator]()
    expect(() => queue[Symbol.asyncIterator]()).toThrow("An AsyncQueue has one consumer: it is read already.")
  })

  it("loses and doubles nothing, however pushes and reads alternate", async () => {
    const step = fc.oneof(fc.nat({ max: 3000 }), fc.constant("read"))
    await fc.assert(
      fc.asyncProperty(fc.array(step), async (steps) => {
        const queue = new AsyncQueue<number>({ limit: 50 })
        const iterator = queue[Symbol.asyncIterator]()
        const reads: Promise<IteratorResult<number, undefined>>[] = []
        let pushed = 0
        for (const each of steps) {
          if (typeof each === "number")
            for (let count = 0; count < each; count += 1) queue.push((pushed += 1))
          else for (let count = 0; count < 1500; count += 1) reads.push(iterator.next())
        }
        queue.close()
        const seen = (await Promise.all(reads))
          .filter(({ done }) => done !== true)
          .map(({ value }) => value as number)
        for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
          seen.push(next.value)
        expect(seen).toHaveLength(pushed)
        expect(seen.every((value, index) => value === index + 1)).toBe(true)
        expect(queue.weight).toBe(0)
      }),
      { numRuns: 30 },
    )
  })
})
