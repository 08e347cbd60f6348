import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { say, tell } from "./conditions.test-kit.ts"
import { MaxMessageTermination, type TerminationCondition, TimeoutTermination } from "./index.ts"

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

/** Watches as a team does, and keeps what it is interrupted with. */
function run(condition: TerminationCondition): { readonly stops: string[]; readonly end: () => void } {
  const stops: string[] = []
  return { stops, end: condition.watch(({ content }) => stops.push(content)) }
}

const REASON = "The run has taken 30s, and may not take longer."

describe("TimeoutTermination", () => {
  it("interrupts a run in the middle of a turn", async () => {
    const condition = new TimeoutTermination("30s")
    const { stops } = run(condition)
    vi.advanceTimersByTime(29_999)
    expect(stops).toEqual([])
    vi.advanceTimersByTime(1)
    expect(stops).toEqual([REASON])
    expect(condition.terminated).toBe(true)
  })

  it("tells a check that comes at the same time, once", async () => {
    const condition = new TimeoutTermination("30s")
    run(condition)
    vi.advanceTimersByTime(30_000)
    expect(await tell(condition)).toBe(REASON)
    await expect(tell(condition)).rejects.toMatchObject({ code: "CONDITION_TERMINATED" })
  })

  it("counts from the beginning of a run, not from when it was made", async () => {
    const condition = new TimeoutTermination(30_000)
    vi.advanceTimersByTime(60_000)
    const { stops, end } = run(condition)
    vi.advanceTimersByTime(29_000)
    expect(await tell(condition)).toBeUndefined()
    end()
    await condition.reset()
    vi.advanceTimersByTime(60_000)
    run(condition)
    expect(await tell(condition)).toBeUndefined()
    expect(stops).toEqual([])
  })

  it("leaves no timer behind after a run", () => {
    const condition = new TimeoutTermination("30s").or(new TimeoutTermination("40s"))
    const { end } = run(condition)
    expect(vi.getTimerCount()).toBe(2)
    end()
    end()
    expect(vi.getTimerCount()).toBe(0)
  })

  it("fires at a check where nobody watches", async () => {
    const condition = new TimeoutTermination("30s")
    expect(await tell(condition)).toBeUndefined()
    vi.advanceTimersByTime(30_000)
    expect(await tell(condition)).toBe(REASON)
  })

  it("goes on from a saved state with the time that is left", () => {
    const first = new TimeoutTermination("30s")
    run(first)
    vi.advanceTimersByTime(20_000)
    const second = new TimeoutTermination("30s")
    second.loadState(first.saveState())
    vi.advanceTimersByTime(100_000)
    const { stops } = run(second)
    vi.advanceTimersByTime(9999)
    expect(stops).toEqual([])
    vi.advanceTimersByTime(1)
    expect(stops).toEqual([REASON])
  })

  it("begins anew when it is reset in the middle of a run, whatever time was left", async () => {
    const condition = new TimeoutTermination("30s")
    condition.loadState({ terminated: REASON, counted: { elapsedMs: 30_000 } })
    const { stops, end } = run(condition)
    await condition.reset()
    vi.advanceTimersByTime(29_999)
    expect(stops).toEqual([])
    vi.advanceTimersByTime(1)
    expect(stops).toEqual([REASON])
    end()
    expect(vi.getTimerCount()).toBe(0)
  })

  it("saves no time that passed between runs", () => {
    const condition = new TimeoutTermination("30s")
    vi.advanceTimersByTime(60_000)
    expect(condition.saveState()).toEqual({ terminated: null, counted: { elapsedMs: 0 } })
  })

  it.each(["soon", "30", 0, -1, 1.5, Number.NaN, "9000h", undefined])("refuses %s", (time) => {
    expect(failureOf(() => new TimeoutTermination(time as never))).toMatch(
      /^OPTION_INVALID: The options of TimeoutTermination are not valid: timeout: /,
    )
  })
})

describe("a combination with a TimeoutTermination", () => {
  it("interrupts if either is enough", () => {
    const condition = new TimeoutTermination("30s").or(new MaxMessageTermination(5))
    const { stops } = run(condition)
    vi.advanceTimersByTime(30_000)
    expect(stops).toEqual([REASON])
  })

  it("interrupts only when all others have fired", async () => {
    const condition = new TimeoutTermination("30s").and(new MaxMessageTermination(2))
    const { stops } = run(condition)
    expect(await tell(condition, say("1"), say("2"))).toBeUndefined()
    vi.advanceTimersByTime(30_000)
    expect(stops).toEqual([`${REASON} There are 2 messages, and 2 are allowed.`])
  })

  it("remembers that the time is over until the others have fired", async () => {
    const condition = new TimeoutTermination("30s").and(new MaxMessageTermination(2))
    const { stops } = run(condition)
    vi.advanceTimersByTime(30_000)
    expect(await tell(condition, say("1"))).toBeUndefined()
    expect(await tell(condition, say("2"))).toBe(`${REASON} There are 2 messages, and 2 are allowed.`)
    expect(stops).toEqual([])
  })

  it("does not interrupt a run that it has ended already", async () => {
    const condition = new TimeoutTermination("30s").or(new MaxMessageTermination(1))
    const { stops } = run(condition)
    expect(await tell(condition, say("1"))).toBeDefined()
    vi.advanceTimersByTime(60_000)
    expect(stops).toEqual([])
  })
})
