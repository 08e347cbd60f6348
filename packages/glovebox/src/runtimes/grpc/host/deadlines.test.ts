import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { Deadlines } from "./deadlines.ts"

describe("Deadlines", () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it("expires each once, none early, and keeps no timer when there is nothing left", () => {
    const expired: string[] = []
    const deadlines = new Deadlines<{ name: string; deadline: number }>(({ name }) => expired.push(name))
    const now = performance.now()
    const late = { name: "late", deadline: now + 500 }
    deadlines.add(late)
    for (const [index, after] of [30, 45, 30].entries()) {
      deadlines.add({ name: `${index}:${after}`, deadline: now + after })
    }
    vi.advanceTimersByTime(29)
    expect(expired).toEqual([])
    vi.advanceTimersByTime(40)
    expect(expired).toEqual(["0:30", "2:30", "1:45"])
    deadlines.delete(late)
    vi.advanceTimersByTime(1000)
    expect(expired).toHaveLength(3)
    expect(vi.getTimerCount()).toBe(0)
  })

  it("finds an earlier one that is added while others are far away", () => {
    const expired: number[] = []
    const deadlines = new Deadlines<{ deadline: number }>(({ deadline }) => expired.push(deadline))
    const now = performance.now()
    deadlines.add({ deadline: now + 10_000 })
    vi.advanceTimersByTime(100)
    deadlines.add({ deadline: now + 10 })
    deadlines.add({ deadline: now + 150 })
    vi.advanceTimersByTime(100)
    expect(expired).toEqual([now + 10, now + 150])
    vi.advanceTimersByTime(10_000)
    expect(expired).toHaveLength(3)
  })

  it("lets what expires add another", () => {
    let count = 0
    const deadlines = new Deadlines<{ deadline: number }>(() => {
      if (++count < 3) deadlines.add({ deadline: performance.now() + 5 })
    })
    deadlines.add({ deadline: performance.now() + 5 })
    vi.advanceTimersByTime(1000)
    expect(count).toBe(3)
    expect(vi.getTimerCount()).toBe(0)
  })
})
