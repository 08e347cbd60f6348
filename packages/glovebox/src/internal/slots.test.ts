import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Slots } from "./slots.ts"

/** Lets everything that can go on go on. */
async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

describe("Slots", () => {
  it("gives as many places as it has, and the rest in the order they were asked for", async () => {
    const slots = new Slots(2)
    const order: string[] = []
    const enter = async (name: string): Promise<() => void> => {
      const giveBack = await slots.take()
      order.push(name)
      return giveBack
    }
    const [a, b] = await Promise.all([enter("a"), enter("b")])
    const others = ["c", "d", "e"].map(enter)
    await turn()
    expect(order).toEqual(["a", "b"])
    b()
    await turn()
    expect(order).toEqual(["a", "b", "c"])
    a()
    ;(await others[0]!)()
    await Promise.all(others)
    expect(order).toEqual(["a", "b", "c", "d", "e"])
  })

  it("hands a place on before anyone who comes later can have it", async () => {
    const slots = new Slots(1)
    const order: string[] = []
    const first = await slots.take()
    const waiting = slots.take().then((giveBack) => {
      order.push("waited")
      return giveBack
    })
    first()
    const late = slots.take().then((giveBack) => {
      order.push("late")
      return giveBack
    })
    ;(await waiting)()
    ;(await late)()
    expect(order).toEqual(["waited", "late"])
  })

  it("counts a place that is given back twice once", async () => {
    const slots = new Slots(1)
    const giveBack = await slots.take()
    giveBack()
    giveBack()
    await slots.take()
    let got = false
    void slots.take().then(() => (got = true))
    await turn()
    expect(got).toBe(false)
  })

  it("refuses one whose signal has aborted, although a place is free", async () => {
    const slots = new Slots(1)
    const reason = new Error("no more")
    await expect(slots.take(AbortSignal.abort(reason))).rejects.toBe(reason)
    await slots.take()
  })

  it("lets one leave the queue by its signal, and nobody behind it waits for that one", async () => {
    const slots = new Slots(1)
    const giveBack = await slots.take()
    const leaving = new AbortController()
    const gone = slots.take(leaving.signal)
    const next = slots.take(new AbortController().signal)
    const reason = new Error("left")
    leaving.abort(reason)
    await expect(gone).rejects.toBe(reason)
    giveBack()
    ;(await next)()
    await slots.take()
  })

  it("loses no place to one that aborts right after it was handed over", async () => {
    const slots = new Slots(1)
    const giveBack = await slots.take()
    const leaving = new AbortController()
    const waiting = slots.take(leaving.signal)
    giveBack()
    leaving.abort(new Error("too late"))
    ;(await waiting)()
    await expect(slots.take()).resolves.toBeTypeOf("function")
  })

  it("loses no place to one that aborts right before it would be handed over", async () => {
    const slots = new Slots(1)
    const giveBack = await slots.take()
    const leaving = new AbortController()
    const waiting = slots.take(leaving.signal)
    leaving.abort(new Error("in time"))
    giveBack()
    await expect(waiting).rejects.toThrow("in time")
    await slots.take()
  })

  it("never gives more places than it has, and never loses one, whatever comes", async () => {
    const steps = fc.array(fc.tuple(fc.constantFrom("take", "back", "abort", "turn"), fc.nat(7)), {
      maxLength: 40,
    })
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), steps, async (count, all) => {
        const slots = new Slots(count)
        const held: (() => void)[] = []
        const signals: AbortController[] = []
        for (const [step, index] of all) {
          if (step === "take") {
            const controller = new AbortController()
            signals.push(controller)
            slots.take(controller.signal).then(
              (giveBack) => held.push(giveBack),
              () => {},
            )
          } else if (step === "back") held.shift()?.()
          else if (step === "abort") signals[index]?.abort()
          else await turn()
          expect(held.length).toBeLessThanOrEqual(count)
        }
        for (const controller of signals) controller.abort()
        await turn()
        for (const giveBack of held) giveBack()
        await Promise.all(Array.from({ length: count }, async () => slots.take()))
      }),
      { numRuns: 30 },
    )
  })
})
