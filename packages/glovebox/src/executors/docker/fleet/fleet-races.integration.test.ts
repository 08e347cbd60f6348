import { setImmediate } from "node:timers/promises"
import { afterEach, describe, expect, it } from "vitest"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import { begin, succeed } from "../../../testing/expectations.ts"
import { programsIn } from "../../../testing/programs.ts"
import { HAS_NO_DOCKER, IMAGE } from "../docker-subject.test-kit.ts"
import { eventually } from "../eventually.test-kit.ts"
import { DockerFleet, type DockerFleetOptions, type FleetTenantOptions } from "../index.ts"
import { containersOf } from "./second-engine.test-kit.ts"

const FIRST = "unix:///var/run/docker.sock"
const [ONE, OTHER] = [`one-${process.pid}`, `other-${process.pid}`]
const RUNC: FleetTenantOptions = { runtime: "runc", pool: 0 }
const { print, wait, write, show } = programsIn(["python"])

function fleetOf(options: Partial<DockerFleetOptions> = {}): DockerFleet {
  return new DockerFleet({
    hosts: [{ name: "a", dockerHost: FIRST, capacity: 2 }],
    tenants: { [ONE]: RUNC, [OTHER]: RUNC },
    image: IMAGE,
    pull: "never",
    ...options,
  })
}

/** As soon as it is so, before anything comes of it. */
async function nextTurnUntil(isSo: () => boolean): Promise<void> {
  while (!isSo()) await setImmediate()
}

describe.skipIf(HAS_NO_DOCKER)("a fleet, of which two things are asked at once", () => {
  afterEach(async () => {
    const left = [await containersOf(FIRST, ONE), await containersOf(FIRST, OTHER)]
    if (left.flat().length > 0) throw new Error(`Containers are left: ${left.flat().join(", ")}`)
  })

  it("stops while calls run, are being placed, and wait: each hears of it, and none is left", async () => {
    const fleet = fleetOf()
    await using executor = fleet.executor({ tenant: ONE, concurrency: 8 })
    const running = begin(executor, [wait("on")])
    const ends = [running.result]
    await running.spoke
    ends.push(...[1, 2, 3].map(async () => executor.executeCodeBlocks([wait("x")])))
    const settled = Promise.allSettled(ends)
    await eventually("one has its place and two wait", async () => fleet.status().tenants[0]?.waiting === 2)
    await Promise.all([fleet.stop(), fleet.stop()])
    for (const end of await settled) expect(end).toMatchObject({ reason: { code: "EXECUTOR_STOPPED" } })
    expect(fleet.status()).toMatchObject({
      hosts: [{ running: 0 }],
      tenants: [{ running: 0, waiting: 0 }, {}],
    })
    await expectFailure(executor.executeCodeBlocks([print("x")]), "EXECUTOR_STOPPED", /fleet/)
  })

  it("ends one executor: the calls of others that waited for its place get it", async () => {
    await using fleet = fleetOf({ hosts: [{ name: "a", dockerHost: FIRST, capacity: 1 }] })
    const executor = fleet.executor({ tenant: ONE, concurrency: 8 })
    const running = begin(executor, [wait("on")])
    const ends = [running.result]
    await running.spoke
    ends.push(executor.executeCodeBlocks([print("x")]))
    const settled = Promise.allSettled(ends)
    await using other = fleet.executor({ tenant: OTHER })
    const next = succeed(other, print("mine"))
    await eventually("both wait", async () => fleet.status().tenants.every(({ waiting }) => waiting === 1))
    await executor.stop()
    for (const end of await settled) expect(end).toMatchObject({ reason: { code: "EXECUTOR_STOPPED" } })
    expect((await next).stdout).toBe("mine")
    await executor.start()
    expect((await succeed(executor, print("again"))).stdout).toBe("again")
    await executor.stop()
  })

  it("takes a drained engine back while its containers end: those that are made then stay", async () => {
    await using fleet = fleetOf({ tenants: { [ONE]: { runtime: "runc", pool: 2 } } })
    await using executor = fleet.executor({ tenant: ONE })
    await succeed(executor, print("x"))
    await eventually("the pool is full", async () => executor.pool?.ready === 2)
    let isDrained = false
    const drained = fleet.drain("a").then(() => (isDrained = true))
    await nextTurnUntil(() => fleet.status().hosts[0]?.containers.ready === 0)
    expect(isDrained).toBe(false)
    fleet.undrain("a")
    const controller = new AbortController()
    const { result, spoke } = begin(executor, [wait("on")], { signal: controller.signal })
    const outcome = result.catch((error: unknown) => error)
    await Promise.all([spoke, drained])
    controller.abort(new Error("it ran until now"))
    expect(await outcome).toMatchObject({ message: "it ran until now" })
  })

  it("refuses what waits for an engine that is drained, with an answer when to come again", async () => {
    await using fleet = fleetOf({ hosts: [{ name: "a", dockerHost: FIRST, capacity: 1 }] })
    await using executor = fleet.executor({ tenant: ONE, concurrency: 8 })
    const controller = new AbortController()
    const running = begin(executor, [wait("on")], { signal: controller.signal })
    const ended = running.result.catch((error: unknown) => error)
    await running.spoke
    const waiting = executor.executeCodeBlocks([print("x")]).catch((error: unknown) => error)
    await eventually("it waits", async () => fleet.status().tenants[0]?.waiting === 1)
    const draining = fleet.drain("a")
    expect(await waiting).toMatchObject({ code: "TRY_LATER", quota: "capacity", tenant: ONE })
    controller.abort(new Error("enough"))
    expect(await ended).toMatchObject({ message: "enough" })
    await draining
  })

  it("ends a session with a drain also when its first call is still on its way", async () => {
    await using fleet = fleetOf()
    await using executor = fleet.executor({ tenant: ONE, isolation: "session" })
    await executor.start()
    const first = succeed(executor, write("file", "x"))
    await nextTurnUntil(() => fleet.status().hosts[0]?.running === 1)
    expect(fleet.status().hosts[0]?.sessions).toBe(0)
    await fleet.drain("a", { endSessions: true })
    await first
    expect(fleet.status()).toMatchObject({ hosts: [{ sessions: 0 }], tenants: [{ sessions: 0 }, {}] })
    fleet.undrain("a")
    await expectFailure(executor.executeCodeBlocks([show("file")]), "SANDBOX_LOST", /drained/)
    await succeed(executor, write("file", "x"))
    expect((await succeed(executor, show("file"))).stdout).toBe("x")
  })

  it("goes on after a session's code overran its time, in a new one", async () => {
    const policy = { limits: { wall: "2s" } }
    await using fleet = fleetOf({ tenants: { [ONE]: { ...RUNC, policy, quota: { sessions: 1 } } } })
    await using executor = fleet.executor({ tenant: ONE, isolation: "session" })
    const deaf = `import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(60)`
    const late = await executor.executeCodeBlocks([{ language: "python", code: deaf }])
    expect([late.exitCode, late.termination]).toEqual([124, "timeout"])
    expect((await succeed(executor, print("fine"))).stdout).toBe("fine")
    expect(fleet.status().tenants).toMatchObject([{ sessions: 1 }])
    await executor.stop()
    expect(fleet.status().tenants).toMatchObject([{ sessions: 0 }])
  })
})
