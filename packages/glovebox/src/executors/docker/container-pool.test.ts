import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { ContainerPool, type ContainerPoolOptions } from "./container-pool.ts"
import type { SandboxContainer } from "./launch-container.ts"
import type { SandboxAgent } from "./sandbox-agent.ts"

interface Fake extends SandboxContainer {
  readonly name: string
  isDestroyed: boolean
  lose(): void
}

/** Launches that a test ends one by one, or at once. */
class Yard {
  readonly containers: Fake[] = []
  /** Launches that have not ended. */
  readonly waiting: { succeed: () => Fake; fail: (error: Error) => void }[] = []
  isAutomatic = true
  failure: Error | undefined
  launches = 0
  destroyFailure: Error | undefined

  launch = async (): Promise<SandboxContainer> => {
    this.launches += 1
    if (this.failure) throw this.failure
    if (this.isAutomatic) return this.make()
    return new Promise((resolve, reject) => {
      const done = (): void => void this.waiting.splice(this.waiting.indexOf(entry), 1)
      const entry = {
        succeed: () => {
          done()
          const container = this.make()
          resolve(container)
          return container
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
      container.isDestroyed = true
      lost.abort(new Error("destroyed"))
      if (this.destroyFailure) throw this.destroyFailure
    }
    const container: Fake = {
      id: `id${this.containers.length}`,
      name: `c${this.containers.length}`,
      agent: { lost: lost.signal, ref: () => {}, warm: () => {} } as unknown as SandboxAgent,
      effective: { image: "", runtime: "", settings: {} },
      isDestroyed: false,
      lose: () => lost.abort(new Error("lost")),
      destroy,
      [Symbol.asyncDispose]: destroy,
    }
    this.containers.push(container)
    return container
  }

  get living(): string[] {
    return this.containers.filter(({ isDestroyed }) => !isDestroyed).map(({ name }) => name)
  }
}

let yard: Yard

beforeEach(() => {
  vi.useFakeTimers()
  yard = new Yard()
})

afterEach(() => vi.useRealTimers())

function pool(options: Partial<ContainerPoolOptions> = {}): ContainerPool {
  return new ContainerPool({ size: 2, idleLeaseMs: 1000, launch: yard.launch, ...options })
}

/** Lets everything go on that needs no time. */
async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0)
}

describe("ContainerPool", () => {
  it("fills up to its size, and waits only for the first", async () => {
    yard.isAutomatic = false
    const containers = pool({ size: 3 })
    const filling = containers.fill()
    await settle()
    expect(yard.launches).toBe(1)
    yard.waiting[0]!.succeed()
    await filling
    expect([containers.idleCount, yard.launches]).toEqual([1, 3])
    for (const launch of yard.waiting.slice()) launch.succeed()
    await settle()
    expect([containers.idleCount, yard.launches]).toEqual([3, 3])
    await containers.fill()
    expect(yard.launches).toBe(3)
  })

  it("gives what is ready, each container once, and makes new ones", async () => {
    const containers = pool()
    await containers.fill()
    await settle()
    const taken = await Promise.all([containers.take(), containers.take(), containers.take()])
    expect(taken.map(({ pooled }) => pooled)).toEqual([true, true, false])
    expect(new Set(taken.map(({ container }) => container.id)).size).toBe(3)
    await settle()
    expect([containers.idleCount, yard.launches]).toEqual([2, 5])
    for (const { container } of taken) await containers.release(container)
    expect(yard.living).toHaveLength(2)
    expect(containers.idleCount).toBe(2)
  })

  it("keeps none ready when its size is none", async () => {
    const containers = pool({ size: 0 })
    await containers.fill()
    expect(yard.launches).toBe(0)
    expect((await containers.take()).pooled).toBe(false)
    await settle()
    expect(yard.launches).toBe(1)
  })

  it("fails its filling with the reason of the first container", async () => {
    yard.failure = new Error("no image")
    const containers = pool()
    await expect(containers.fill()).rejects.toBe(yard.failure)
    expect(yard.launches).toBe(1)
  })

  it("makes no more than two at once in the background", async () => {
    yard.isAutomatic = false
    const containers = pool({ size: 10 })
    const filling = containers.fill()
    yard.waiting[0]!.succeed()
    await filling
    let most = 0
    while (containers.idleCount < 10) {
      most = Math.max(most, yard.waiting.length)
      yard.waiting[0]!.succeed()
      await settle()
    }
    expect([most, yard.launches]).toEqual([2, 10])
  })

  it("does not try again and again when containers cannot be made", async () => {
    const containers = pool()
    yard.failure = new Error("no space left")
    await expect(containers.take()).rejects.toBe(yard.failure)
    await settle()
    await vi.advanceTimersByTimeAsync(500)
    expect(yard.launches).toBeLessThanOrEqual(3)
    yard.failure = undefined
    await containers.take()
    await settle()
    expect(containers.idleCount).toBe(2)
  })

  it("replaces a container that is lost while it waits, and never gives it", async () => {
    const containers = pool()
    await containers.fill()
    await settle()
    yard.containers[0]!.lose()
    expect(yard.containers[0]!.isDestroyed).toBe(true)
    await settle()
    expect([containers.idleCount, yard.living]).toEqual([2, ["c1", "c2"]])
    expect((await containers.take()).container.id).toBe("id1")
  })

  it("does not try again and again when every container is lost as soon as it is ready", async () => {
    const launch = async (): Promise<SandboxContainer> => {
      yard.launches += 1
      if (yard.launches > 200) return new Promise(() => {})
      const container = yard.make()
      setTimeout(() => container.lose(), 1)
      return container
    }
    const containers = pool({ launch })
    await containers.fill()
    await vi.advanceTimersByTimeAsync(100)
    expect(yard.launches).toBeLessThan(20)
  })

  it("does not keep a container that is lost before it could wait", async () => {
    yard.isAutomatic = false
    const containers = pool({ size: 1 })
    const filling = containers.fill()
    yard.waiting[0]!.succeed().lose()
    await filling
    await settle()
    expect(yard.containers[0]!.isDestroyed).toBe(true)
    expect(containers.idleCount).toBe(0)
  })

  it("lets a container that was taken be lost without a second removal", async () => {
    const containers = pool({ size: 1 })
    await containers.fill()
    const { container } = await containers.take()
    await settle()
    const before = yard.launches
    ;(container as Fake).lose()
    await settle()
    expect((container as Fake).isDestroyed).toBe(false)
    expect(yard.launches).toBe(before)
  })
})

describe("ContainerPool, when nothing runs for long", () => {
  it("lets its containers go after the lease, and makes new ones with the next run", async () => {
    const containers = pool()
    await containers.fill()
    await settle()
    await vi.advanceTimersByTimeAsync(999)
    expect(containers.idleCount).toBe(2)
    await vi.advanceTimersByTimeAsync(1)
    expect([containers.idleCount, yard.living, yard.launches]).toEqual([0, [], 2])
    expect((await containers.take()).pooled).toBe(false)
    await settle()
    expect(containers.idleCount).toBe(2)
  })

  it("begins the lease anew with every run", async () => {
    const containers = pool()
    await containers.fill()
    await settle()
    await vi.advanceTimersByTimeAsync(800)
    await containers.take()
    await vi.advanceTimersByTimeAsync(800)
    expect(containers.idleCount).toBe(2)
    await vi.advanceTimersByTimeAsync(200)
    expect(containers.idleCount).toBe(0)
  })

  it("keeps no container that is ready only after the lease", async () => {
    yard.isAutomatic = false
    const containers = pool()
    const filling = containers.fill()
    yard.waiting[0]!.succeed()
    await filling
    expect(yard.waiting).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1000)
    yard.waiting[0]!.succeed()
    await settle()
    expect([containers.idleCount, yard.living]).toEqual([0, []])
  })
})

describe("ContainerPool, closing", () => {
  it("destroys what waits, and refuses to give more", async () => {
    const containers = pool()
    await containers.fill()
    await settle()
    await containers.close()
    expect(yard.living).toEqual([])
    await expectFailure(containers.take(), "EXECUTOR_STOPPED")
    await containers.close()
    await vi.advanceTimersByTimeAsync(5000)
    expect(yard.launches).toBe(2)
  })

  it("waits for containers that are being made, and destroys them", async () => {
    yard.isAutomatic = false
    const containers = pool()
    const taking = containers.take()
    taking.catch(() => {})
    await settle()
    expect(yard.waiting.length).toBeGreaterThan(1)
    let isClosed = false
    const closing = containers.close().then(() => (isClosed = true))
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
      const containers = pool()
      const filling = containers.fill()
      filling.catch(() => {})
      const taking = containers.take()
      await settle()
      for (const launch of yard.waiting.slice()) launch.succeed()
      for (let count = 0; count < hops; count += 1) await Promise.resolve()
      const closing = containers.close()
      const taken = await taking.catch(() => undefined)
      if (taken) await containers.release(taken.container)
      for (const launch of yard.waiting.slice()) launch.succeed()
      await closing
      await settle()
      expect([hops, yard.living]).toEqual([hops, []])
    }
  })

  it("makes nothing more when it is filled after its close", async () => {
    const containers = pool()
    await containers.close()
    await containers.fill().catch(() => {})
    await settle()
    expect(yard.living).toEqual([])
  })

  it("waits for removals that are under way, and survives those that fail", async () => {
    const containers = pool()
    await containers.fill()
    await settle()
    const { container } = await containers.take()
    yard.destroyFailure = new Error("the engine is gone")
    await containers.release(container)
    await containers.close()
    expect(yard.living).toEqual([])
  })
})
