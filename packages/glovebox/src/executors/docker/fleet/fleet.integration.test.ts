import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import { begin, succeed } from "../../../testing/expectations.ts"
import { programsIn, python } from "../../../testing/programs.ts"
import { pythonFunction } from "../../functions/python-function.ts"
import { HAS_NO_DOCKER, IMAGE } from "../docker-subject.test-kit.ts"
import { eventually } from "../eventually.test-kit.ts"
import { DockerFleet, type DockerFleetOptions, type FleetTenantOptions, TryLaterError } from "../index.ts"
import { SecondEngine, containersOf, dockerAt } from "./second-engine.test-kit.ts"

const isRoot = process.getuid?.() === 0
const FIRST = "unix:///var/run/docker.sock"
// Names that are the same once what is not allowed in a container's name is taken out.
const [ONE, OTHER] = [`Acme/${process.pid}`, `acme_${process.pid}`]
const RUNC: FleetTenantOptions = { runtime: "runc", pool: 0 }
const { print, wait, write, show } = programsIn(["python"])

describe.skipIf(HAS_NO_DOCKER || !isRoot)("a fleet of two engines", () => {
  let second: SecondEngine
  let folder = ""

  beforeAll(async () => {
    second = await SecondEngine.open()
    folder = await mkdtemp(join(tmpdir(), "gb-fleet-work-"))
  })
  afterAll(async () => {
    await second.close()
    await rm(folder, { recursive: true, force: true })
  })

  function fleetOf(options: Partial<DockerFleetOptions> = {}): DockerFleet {
    return new DockerFleet({
      hosts: [
        { name: "a", dockerHost: FIRST, capacity: 2 },
        { name: "b", dockerHost: second.address, capacity: 2 },
      ],
      tenants: { [ONE]: RUNC, [OTHER]: RUNC },
      image: IMAGE,
      pull: "never",
      ...options,
    })
  }

  it("spreads runs by room, and keeps no more on an engine than fit; the rest waits", async () => {
    await using fleet = fleetOf()
    await fleet.start()
    await using executor = fleet.executor({ tenant: ONE, concurrency: 10 })
    const controller = new AbortController()
    const held = ["1", "2", "3", "4"].map((text) =>
      begin(executor, [wait(text)], { signal: controller.signal }),
    )
    const ended = Promise.allSettled(held.map(async ({ result }) => result))
    await Promise.all(held.map(async ({ spoke }) => spoke))
    const waiting = [print("5"), print("6")].map(async (block) => succeed(executor, block))
    await eventually("two wait", async () => fleet.status().tenants[0]?.waiting === 2)
    expect(fleet.status().hosts.map(({ running }) => running)).toEqual([2, 2])
    expect(fleet.status().tenants[0]).toMatchObject({ name: ONE, running: 4 })
    controller.abort(new Error("enough"))
    await ended
    expect((await Promise.all(waiting)).map(({ stdout }) => stdout)).toEqual(["5", "6"])
  })

  it("carries an executor's files from one engine to the other", async () => {
    await using fleet = fleetOf()
    await using executor = fleet.executor({ tenant: ONE })
    await fleet.start()
    await fleet.drain("a")
    const written = await succeed(executor, write("file", "carried"))
    expect([written.sandbox.engine, written.artifacts.map(({ path }) => path)]).toEqual(["b", ["file"]])
    fleet.undrain("a")
    await fleet.drain("b")
    const read = await succeed(executor, show("file"))
    expect([read.sandbox.engine, read.stdout]).toEqual(["a", "carried"])
  })

  it("uses an engine with the image while there is one, and each tenant its own engines alone", async () => {
    await second.command("tag", IMAGE, `glovebox/only-b:${process.pid}`)
    const only: FleetTenantOptions = { ...RUNC, image: `glovebox/only-b:${process.pid}` }
    const tenants = { there: only, nowhere: { ...only, hosts: ["a"] }, first: { ...RUNC, hosts: ["a"] } }
    await using fleet = fleetOf({ tenants })
    await fleet.start()
    await using executor = fleet.executor({ tenant: "there" })
    const engines = await Promise.all(
      [1, 2, 3].map(async () => (await succeed(executor, print("x"))).sandbox.engine),
    )
    expect(engines).toEqual(["b", "b", "b"])
    await using lost = fleet.executor({ tenant: "nowhere" })
    await expectFailure(lost.executeCodeBlocks([print("x")]), "IMAGE_UNAVAILABLE", /: a\./)
    await using first = fleet.executor({ tenant: "first" })
    expect((await succeed(first, print("x"))).sandbox.engine).toBe("a")
    await second.command("rmi", `glovebox/only-b:${process.pid}`)
  })

  it("drains: what runs ends, nothing new comes, no container stays, and it can be taken back", async () => {
    await using fleet = fleetOf({ tenants: { [ONE]: { runtime: "runc", pool: 1 } } })
    await using executor = fleet.executor({ tenant: ONE, concurrency: 8 })
    await fleet.start()
    const controller = new AbortController()
    const held = ["x", "y", "z"].map((text) => begin(executor, [wait(text)], { signal: controller.signal }))
    const ended = Promise.allSettled(held.map(async ({ result }) => result))
    await Promise.all(held.map(async ({ spoke }) => spoke))
    let isEmpty = false
    const draining = fleet.drain("a").then(() => (isEmpty = true))
    expect((await succeed(executor, print("fine"))).sandbox.engine).toBe("b")
    expect([isEmpty, fleet.status().hosts[0]?.draining]).toEqual([false, true])
    const impatient = fleet.drain("a", { signal: AbortSignal.timeout(10) })
    await expect(impatient).rejects.toThrow("timeout")
    controller.abort(new Error("enough"))
    await ended
    await draining
    expect(await containersOf(FIRST, ONE)).toEqual([])
    fleet.undrain("a")
    await fleet.drain("b")
    expect((await succeed(executor, print("fine"))).sandbox.engine).toBe("a")
  })

  it("keeps a session on its engine, through a drain too, until that is told to end sessions", async () => {
    await using fleet = fleetOf({ tenants: { [ONE]: { ...RUNC, quota: { sessions: 1 } } } })
    await using executor = fleet.executor({ tenant: ONE, isolation: "session" })
    const { engine = "" } = (await succeed(executor, write("file", "kept"))).sandbox
    await using more = fleet.executor({ tenant: ONE, isolation: "session" })
    const refused = await expectFailure(more.executeCodeBlocks([print("x")]), "TRY_LATER", /1 sessions/)
    expect(refused).toMatchObject({ quota: "sessions", tenant: ONE })
    const draining = fleet.drain(engine)
    const again = await succeed(executor, show("file"))
    expect([again.stdout, again.sandbox.engine]).toEqual(["kept", engine])
    await fleet.drain(engine, { endSessions: true })
    await draining
    await expectFailure(executor.executeCodeBlocks([show("file")]), "SANDBOX_LOST", /drained/)
    expect((await succeed(executor, print("new"))).sandbox.engine).not.toBe(engine)
    await executor.stop()
    expect(fleet.status().tenants[0]).toMatchObject({ sessions: 0 })
  })

  it("shares no container, name, pool, folder or prepared image between tenants", async () => {
    const source = `def double(number: int) -> int:\n    # ${process.pid}\n    return number * 2`
    const functions = [pythonFunction({ source })]
    const tenant: FleetTenantOptions = { runtime: "runc", pool: 1, functions, hosts: ["a"] }
    const smaller = { ...tenant, policy: { limits: { memory: "96MiB" } } }
    await using fleet = fleetOf({ tenants: { [ONE]: tenant, [OTHER]: smaller }, workRoot: folder })
    await using one = fleet.executor({ tenant: ONE, workspace: "w" })
    await using other = fleet.executor({ tenant: OTHER, workspace: "w" })
    const use = python(`from functions import double\nprint(double(21))`)
    expect((await succeed(one, use, write("file", "mine"))).stdout).toContain("42")
    expect([await imagesOf(ONE), await imagesOf(OTHER)]).toMatchObject([{ length: 1 }, { length: 0 }])
    const { sandbox } = await succeed(other, use)
    expect(sandbox.policySha256).not.toBe(one.policy.sha256)
    expect(sandbox.effective).toMatchObject({ memory: 96 * 1024 ** 2 })
    const listing = python(`import os; print(os.listdir())`)
    expect((await succeed(other, listing)).stdout).not.toContain("file")
    const prepared = [...(await imagesOf(ONE)), ...(await imagesOf(OTHER))]
    expect(new Set(prepared).size).toBe(2)
    await eventually("both pools are full", async () => one.pool?.ready === 1 && other.pool?.ready === 1)
    const [mine, theirs] = [await containersOf(FIRST, ONE), await containersOf(FIRST, OTHER)]
    expect([mine.length, theirs.length]).toEqual([1, 1])
    const base = (name: string | undefined): string =>
      (name ?? "").replace(/-[0-9a-f]{8}-[0-9a-f]{4}-\d+$/, "")
    expect(base(mine[0])).toMatch(/^glovebox-acme-\d+-[0-9a-f]{16}$/)
    expect(base(mine[0])).not.toBe(base(theirs[0]))
    expect(await readdir(folder)).toHaveLength(2)
    await fleet.stop()
    expect([...(await containersOf(FIRST, ONE)), ...(await containersOf(FIRST, OTHER))]).toEqual([])
    await dockerAt(FIRST, "rmi", ...prepared)
  })

  it("shares a tenant's pool between its executors", async () => {
    await using fleet = fleetOf({ tenants: { [ONE]: { runtime: "runc", pool: 1, hosts: ["a"] } } })
    await using one = fleet.executor({ tenant: ONE })
    await succeed(one, write("file", "mine"))
    await eventually("the pool is full", async () => one.pool?.ready === 1)
    await using other = fleet.executor({ tenant: ONE })
    const { sandbox, stdout } = await succeed(other, python(`import os; print(os.listdir())`))
    expect([sandbox.pooled, stdout.includes("file")]).toEqual([true, false])
  })

  it("answers try later when a quota or the queue is full, and lets go of what waits when it is cancelled", async () => {
    const quota = { concurrentRuns: 1, runsPerMinute: 4 }
    await using fleet = fleetOf({ tenants: { [ONE]: { ...RUNC, maxQueued: 1, quota }, [OTHER]: RUNC } })
    await using executor = fleet.executor({ tenant: ONE, concurrency: 10 })
    const stop = new AbortController()
    const first = begin(executor, [wait("on")], { signal: stop.signal })
    const ended = first.result.catch((error: unknown) => error)
    await first.spoke
    const controller = new AbortController()
    const waiting = executor.executeCodeBlocks([print("x")], { signal: controller.signal })
    const cancelled = waiting.catch((error: unknown) => error)
    await eventually("one waits", async () => fleet.status().tenants[0]?.waiting === 1)
    const full = await expectFailure(executor.executeCodeBlocks([print("x")]), "TRY_LATER")
    expect(full).toBeInstanceOf(TryLaterError)
    expect(full).toMatchObject({ quota: "concurrentRuns" })
    await using other = fleet.executor({ tenant: OTHER })
    await succeed(other, print("not held up"))
    controller.abort(new Error("enough"))
    expect(await cancelled).toMatchObject({ message: "enough" })
    stop.abort(new Error("over"))
    expect(await ended).toMatchObject({ message: "over" })
    for (const text of ["2", "3", "4"]) await succeed(executor, print(text))
    const often = await expectFailure(executor.executeCodeBlocks([print("5")]), "TRY_LATER", /4 runs/)
    expect(often).toMatchObject({ quota: "runsPerMinute" })
  })

  it("charges CPU time, and refuses a tenant that has used up its own", async () => {
    const cpuSeconds = { amount: 0.4, perMs: 3_600_000 }
    await using fleet = fleetOf({ tenants: { [ONE]: { ...RUNC, quota: { cpuSeconds } } } })
    await using executor = fleet.executor({ tenant: ONE })
    await succeed(executor, python(`import time\nwhile time.process_time() < 1: pass`))
    await eventually("it is charged", async () => (fleet.status().tenants[0]?.cpuSecondsLeft ?? 0) < -0.5)
    const refused = await expectFailure(executor.executeCodeBlocks([print("x")]), "TRY_LATER")
    expect(refused).toMatchObject({ quota: "cpuSeconds" })
  })
})

/** The images with functions that were made for a tenant, on the first engine. */
async function imagesOf(tenant: string): Promise<string[]> {
  const filters = ["label=org.glovebox.prepared", `label=org.glovebox.tenant=${tenant}`]
  const options = filters.flatMap((filter) => ["--filter", filter])
  const names = await dockerAt(FIRST, "images", ...options, "--format", "{{.Repository}}:{{.Tag}}")
  return names.split("\n").filter(Boolean)
}
