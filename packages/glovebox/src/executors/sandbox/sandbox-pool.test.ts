import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { SandboxPool, type SandboxPoolOptions } from "./sandbox-pool.ts"
import type { Sandbox } from "./sandbox.ts"
import type { SandboxAgent } from "./sandbox-agent.ts"

interface Fake extends Sandbox {
  readonly name: string
  isDestroyed: boolean
  lose(): void
}

/** Launches that a test ends one by one, or at once. */
class Yard {
  readonly sandboxes: Fake[] = []
  /** Launches that have not ended. */
  readonly waiting: { succeed: () => Fake; fail: (error: Error) => void }[] = []
  isAutomatic = true
  failure: Error | undefined
  launches = 0
  destroyFailure: Error | undefined

  launch = async (): Promise<Sandbox> => {
    this.launches += 1
    if (this.failure) throw this.failure
    if (this.isAutomatic) return this.make()
    return new Promise((resolve, reject) => {
      const done = (): void => void this.waiting.splice(this.waiting.indexOf(entry), 1)
      const entry = {
        succeed: () => {
          done()
          const sandbox = this.make()
          resolve(sandbox)
          return sandbox
        },
        fail: (error: Error) => {
          done()
          reject(error)
        },
      }
      this.waiting.push(entry)
    })
  }

  make(): Fake {
    const lost = new AbortController()
    const destroy = async (): Promise<void> => {
      sandbox.isDestroyed = true
      lost.abort(new Error("destroyed"))
      if (this.destroyFailure) throw this.destroyFailure
    }
    const sandbox: Fake = {
      id: `id${this.sandboxes.length}`,
      name: `c${this.sandboxes.length}`,
      agent: { lost: lost.signal, ref: () => {}, warm: () => {} } as unknown as SandboxAgent,
      facts: { effective: {} },
      isDestroyed: false,
      lose: () => lost.abort(new Error("lost")),
      destroy,
      [Symbol.asyncDispose]: destroy,
    }
    this.sandboxes.push(sandbox)
    return sandbox
  }

  get living(): string[] {
    return this.sandboxes.filter(({ isDestroyed }) => !isDestroyed).map(({ name }) => name)
  }
}

let yard: Yard

beforeEach(() => {
  vi.useFakeTimers()
  yard = new Yard()
})

afterEach(() => vi.useRealTimers())

function pool(options: Partial<SandboxPoolOptions> = {}): SandboxPool {
  return new SandboxPool({ size: 2, idleLeaseMs: 1000, launch: yard.launch, ...options })
}

/** Lets everything go on that needs no time. */
async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0)
}

describe("SandboxPool", () => {
  it("fills up to its size, and waits only for the first", async () => {
    yard.isAutomatic = false
    const sandboxes = pool({ size: 3 })
    const filling = sandboxes.fill()
    await settle()
    expect(yard.launches).toBe(1)
    yard.waiting[0]!.succeed()
    await filling
    expect([sandboxes.idleCount, yard.launches]).toEqual([1, 3])
    for (const launch of yard.waiting.slice()) launch.succeed()
    await settle()
    expect([sandboxes.idleCount, yard.launches]).toEqual([3, 3])
    await sandboxes.fill()
    expect(yard.launches).toBe(3)
  })

  it("gives what is ready, each sandbox once, and makes new ones", async () => {
    const sandboxes = pool()
    await sandboxes.fill()
    await settle()
    const taken = await Promise.all([sandboxes.take(), sandboxes.take(), sandboxes.take()])
    expect(taken.map(({ pooled }) => pooled)).toEqual([true, true, false])
    expect(new Set(taken.map(({ sandbox }) => sandbox.id)).size).toBe(3)
    await settle()
    expect([sandboxes.idleCount, yard.launches]).toEqual([2, 5])
    expect(sandboxes.state).toEqual({ ready: 2, busy: 3, size: 2 })
    for (const { sandbox } of taken) await sandboxes.release(sandbox)
    expect(yard.living).toHaveLength(2)
    expect(sandboxes.state).toEqual({ ready: 2, busy: 0, size: 2 })
  })

  it("keeps none ready when its size is none", async () => {
    const sandboxes = pool({ size: 0 })
    await sandboxes.fill()
    expect(yard.launches).toBe(0)
    expect((await sandboxes.take()).pooled).toBe(false)
    await settle()
    expect(yard.launches).toBe(1)
  })

  it("fails its filling with the reason of the first sandbox", async () => {
    yard.failure = new Error("no image")
    const sandboxes = pool()
    await expect(sandboxes.fill()).rejects.toBe(yard.failure)
    expect(yard.launches).toBe(1)
  })

  it("makes no more than two at once in the background", async () => {
    yard.isAutomatic = false
    const sandboxes = pool({ size: 10 })
    const filling = sandboxes.fill()
    yard.waiting[0]!.succeed()
    await filling
    let most = 0
    while (sandboxes.idleCount < 10) {
      most = Math.max(most, yard.waiting.length)
      yard.waiting[0]!.succeed()
      await settle()
    }
    expect([most, yard.launches]).toEqual([2, 10])
  })

  it("makes no more than four at once for those who wait, and gives each one, in order", async () => {
    yard.isAutomatic = false
    const sandboxes = pool({ size: 0 })
    const order: number[] = []
    const taken = Array.from({ length: 7 }, async (_, index) => {
      const { sandbox } = await sandboxes.take()
      order.push(index)
      return sandbox
    })
    await settle()
    let most = 0
    while (yard.waiting.length > 0) {
      most = Math.max(most, yard.waiting.length)
      yard.waiting[0]!.succeed()
      await settle()
    }
    const given = await Promise.all(taken)
    expect([most, yard.launches, new Set(given).size]).toEqual([4, 7, 7])
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6])
  })

  it("gives a turn that failed to the next, and its reason to one alone", async () => {
    yard.isAutomatic = false
    const sandboxes = pool({ size: 0 })
    const taken = Array.from({ length: 6 }, () => sandboxes.take())
    await settle()
    yard.waiting[0]!.fail(new Error("no space left"))
    await expect(taken[0]).rejects.toThrow("no space left")
    await settle()
    while (yard.waiting.length > 0) {
      yard.waiting[0]!.succeed()
      await settle()
    }
    expect((await Promise.all(taken.slice(1))).map(({ pooled }) => pooled)).toEqual(Array(5).fill(false))
  })

  it("refuses those who wait for their turn when it is closed", async () => {
    yard.isAutomatic = false
    const sandboxes = pool({ size: 0 })
    const taken = Array.from({ length: 6 }, () => sandboxes.take())
    const refused = Promise.all(taken.map(async (each) => expectFailure(each, "EXECUTOR_STOPPED")))
    await settle()
    const closing = sandboxes.close()
    while (yard.waiting.length > 0) yard.waiting[0]!.succeed()
    await Promise.all([closing, refused])
    expect([yard.launches, yard.living.length]).toEqual([4, 0])
  })

  it("does not try again and again when sandboxes cannot be made", async () => {
    const sandboxes = pool()
    yard.failure = new Error("no space left")
    await expect(sandboxes.take()).rejects.toBe(yard.failure)
    await settle()
    await vi.advanceTimersByTimeAsync(500)
    expect(yard.launches).toBeLessThanOrEqual(3)
    yard.failure = undefined
    await sandboxes.take()
    await settle()
    expect(sandboxes.idleCount).toBe(2)
  })

  it("replaces a sandbox that is lost while it waits, and never gives it", async () => {
    const sandboxes = pool()
    await sandboxes.fill()
    await settle()
    yard.sandboxes[0]!.lose()
    expect(yard.sandboxes[0]!.isDestroyed).toBe(true)
    await settle()
    expect([sandboxes.idleCount, yard.living]).toEqual([2, ["c1", "c2"]])
    expect((await sandboxes.take()).sandbox.id).toBe("id1")
  })

  it("does not try again and again when every sandbox is lost as soon as it is ready", async () => {
    const launch = async (): Promise<Sandbox> => {
      yard.launches += 1
      if (yard.launches > 200) return new Promise(() => {})
      const sandbox = yard.make()
      setTimeout(() => sandbox.lose(), 1)
      return sandbox
    }
    const sandboxes = pool({ launch })
    await sandboxes.fill()
    await vi.advanceTimersByTimeAsync(100)
    expect(yard.launches).toBeLessThan(20)
  })

  it("does not keep a sandbox that is lost before it could wait", async () => {
    yard.isAutomatic = false
    const sandboxes = pool({ size: 1 })
    const filling = sandboxes.fill()
    yard.waiting[0]!.succeed().lose()
    await filling
    await settle()
    expect(yard.sandboxes[0]!.isDestroyed).toBe(true)
    expect(sandboxes.idleCount).toBe(0)
  })

  it("lets a sandbox that was taken be lost without a second removal", async () => {
    const sandboxes = pool({ size: 1 })
    await sandboxes.fill()
    const { sandbox } = await sandboxes.take()
    await settle()
    const before = yard.launches
    ;(sandbox as Fake).lose()
    await settle()
    expect((sandbox as Fake).isDestroyed).toBe(false)
    expect(yard.launches).toBe(before)
  })
})

describe("SandboxPool, when nothing runs for long", () => {
  it("lets its sandboxes go after the lease, and makes new ones with the next run", async () => {
    const sandboxes = pool()
    await sandboxes.fill()
    await settle()
    await vi.advanceTimersByTimeAsync(999)
    expect(sandboxes.idleCount).toBe(2)
    await vi.advanceTimersByTimeAsync(1)
    expect([sandboxes.idleCount, yard.living, yard.launches]).toEqual([0, [], 2])
    expect((await sandboxes.take()).pooled).toBe(false)
    await settle()
    expect(sandboxes.idleCount).toBe(2)
  })

  it("begins the lease anew with every run", async () => {
    const sandboxes = pool()
    await sandboxes.fill()
    await settle()
    await vi.advanceTimersByTimeAsync(800)
    await sandboxes.take()
    await vi.advanceTimersByTimeAsync(800)
    expect(sandboxes.idleCount).toBe(2)
    await vi.advanceTimersByTimeAsync(200)
    expect(sandboxes.idleCount).toBe(0)
  })

  it("keeps no sandbox that is ready only after the lease", async () => {
    yard.isAutomatic = false
    const sandboxes = pool()
    const filling = sandboxes.fill()
    yard.waiting[0]!.succeed()
    await filling
    expect(yard.waiting).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1000)
    yard.waiting[0]!.succeed()
    await settle()
    expect([sandboxes.idleCount, yard.living]).toEqual([0, []])
  })
})

describe("SandboxPool, closing", () => {
  it("destroys what waits, and refuses to give more", async () => {
    const sandboxes = pool()
    await sandboxes.fill()
    await settle()
    await sandboxes.close()
    expect(yard.living).toEqual([])
    await expectFailure(sandboxes.take(), "EXECUTOR_STOPPED")
    await sandboxes.close()
    await vi.advanceTimersByTimeAsync(5000)
    expect(yard.launches).toBe(2)
  })

  it("waits for sandboxes that are being made, and destroys them", async () => {
    yard.isAutomatic = false
    const sandboxes = pool()
    const taking = sandboxes.take()
    taking.catch(() => {})
    await settle()
    expect(yard.waiting.length).toBeGreaterThan(1)
    let isClosed = false
    const closing = sandboxes.close().then(() => (isClosed = true))
    await settle()
    expect(isClosed).toBe(false)
    // The last is that of the one who takes; the others fill the pool.
    const [one, another, mine] = [...yard.waiting]
    one!.succeed()
    another!.fail(new Error("too late"))
    mine!.succeed()
    await closing
    await expectFailure(taking, "EXECUTOR_STOPPED")
    expect(yard.living).toEqual([])
  })

  it("leaves none behind, at whichever moment of a launch it is closed", async () => {
    for (let hops = 0; hops < 8; hops += 1) {
      yard = new Yard()
      yard.isAutomatic = false
      const sandboxes = pool()
      const filling = sandboxes.fill()
      filling.catch(() => {})
      const taking = sandboxes.take()
      await settle()
      for (const launch of yard.waiting.slice()) launch.succeed()
      for (let count = 0; count < hops; count += 1) await Promise.resolve()
      const closing = sandboxes.close()
      const taken = await taking.catch(() => undefined)
      if (taken) await sandboxes.release(taken.sandbox)
      for (const launch of yard.waiting.slice()) launch.succeed()
      await closing
      await settle()
      expect([hops, yard.living]).toEqual([hops, []])
    }
  })

  it("makes nothing more when it is filled after its close", async () => {
    const sandboxes = pool()
    await sandboxes.close()
    await sandboxes.fill().catch(() => {})
    await settle()
    expect(yard.living).toEqual([])
  })

  it("waits for removals that are under way, and survives those that fail", async () => {
    const sandboxes = pool()
    await sandboxes.fill()
    await settle()
    const { sandbox } = await sandboxes.take()
    yard.destroyFailure = new Error("the engine is gone")
    await sandboxes.release(sandbox)
    await sandboxes.close()
    expect(yard.living).toEqual([])
  })
})
