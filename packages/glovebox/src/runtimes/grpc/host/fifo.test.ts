import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Fifo } from "./fifo.ts"

describe("Fifo", () => {
  it("is a queue, however much went through it", () => {
    const fifo = new Fifo<number>()
    const model: number[] = []
    let next = 0
    const step = (pushes: number, shifts: number): void => {
      for (let index = 0; index < pushes; index++) {
        fifo.push(next)
        model.push(next++)
      }
      for (let index = 0; index < shifts; index++) expect(fifo.shift()).toBe(model.shift())
      expect(fifo.size).toBe(model.length)
      expect(fifo.peek()).toBe(model[0])
    }
    const steps = fc.array(fc.tuple(fc.nat(3000), fc.nat(3000)), { maxLength: 8 })
    fc.assert(
      fc.property(steps, (all) => {
        for (const [pushes, shifts] of all) step(pushes, shifts)
        expect(fifo.list()).toEqual(model)
        expect(fifo.takeAll()).toEqual(model)
        model.length = 0
        expect(fifo.size).toBe(0)
      }),
      { numRuns: 10 },
    )
  })
})
