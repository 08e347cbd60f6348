import { randomUUID } from "node:crypto"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { gate } from "../../core/gate.test-kit.ts"
import { silentLogger } from "../../core/index.ts"
import { writeFrame } from "./frame.ts"
import { ExecutorAck, ExecutorChunk, ExecutorControl, ExecutorPut } from "./messages.ts"
import { GOOD, RawClient, fileFrame, serve } from "./raw-client.test-kit.ts"
import { BLOCK, ScriptedExecutor, endless, finished, output, saying } from "./remote.test-kit.ts"
import { serveCodeExecutor } from "./serve-code-executor.ts"

describe("a key that was idle for too long", () => {
  it("begins nothing that would be ended at once: what comes just then is for the next executor", async () => {
    const made: ScriptedExecutor[] = []
    const ends = await serve(() => {
      made.push(new ScriptedExecutor(endless))
      return made.at(-1)!
    })
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    const client = await new RawClient(ends).start()
    const run = client.run(GOOD)
    const put = client.send(ExecutorPut(client.last(Buffer.concat(writeFrame(fileFrame("x", "y"))))))
    vi.advanceTimersByTime(600_000)
    const [chunk, ack] = await Promise.all([run, put])
    expect(ExecutorChunk.is(chunk) && chunk.end && chunk.instance !== client.instance).toBe(true)
    expect(ExecutorAck.is(ack) && ack.instance !== client.instance).toBe(true)
    await client.start()
    expect(ExecutorChunk.is(await client.run(GOOD))).toBe(true)
    expect(made.map(({ ran, files }) => [ran.length, files.length])).toEqual([
      [0, 0],
      [1, 0],
    ])
  })
})

describe("bounds for all clients", () => {
  it("are kept for keys: one too many is refused and leaves nothing behind, until another rests", async () => {
    const made: string[] = []
    const ends = await serve(
      (key) => {
        made.push(key)
        return new ScriptedExecutor(saying("x"))
      },
      { maxKeys: 2 },
    )
    const [one, two, three] = [ends.client(), ends.client(), ends.client()]
    await Promise.all([one.start(), two.start()])
    await expectFailure(three.start(), "TRY_LATER", /2 clients/)
    for (let index = 0; index < 20; index += 1) {
      await expectFailure(ends.client().start(), "TRY_LATER")
    }
    expect([ends.service.status.keys, made.length]).toEqual([2, 2])
    const agents = async (): Promise<string[]> =>
      Object.keys((await ends.runtime.inner.saveState())["agents"] ?? {})
    await expect.poll(agents).toEqual([`executor/${one.key}`, `executor/${two.key}`])
    await one.stop()
    await three.start()
    expect(made).toEqual([one.key, two.key, three.key])
  })

  it("are kept for runs of one key, and of all", async () => {
    const open = gate()
    let most = 0
    const far = new ScriptedExecutor(async function* script() {
      most = Math.max(most, far.running)
      await open.promise
      yield* saying("done")([], new AbortController().signal)
    })
    const ends = await serve(far, { maxRuns: 3, maxRunsPerKey: 2, maxQueuedPerKey: 3 })
    const clients = [ends.client(), ends.client()]
    const calls = clients.flatMap((client) => [1, 2, 3].map(() => client.executeCodeBlocks([BLOCK])))
    await expect.poll(() => [ends.service.status.runs, far.running]).toEqual([6, 3])
    await expectFailure(clients[0]!.executeCodeBlocks([BLOCK]), "TRY_LATER", /3 runs/)
    open.open()
    expect((await Promise.all(calls)).map(({ output }) => output)).toEqual(Array(6).fill("done"))
    expect(most).toBe(3)
  })

  it("let a client flood only its own mailbox", async () => {
    const ends = await serve(new ScriptedExecutor(endless), { maxQueuedPerKey: 1 })
    const client = await new RawClient(ends).start()
    const id = randomUUID()
    const waits = Array.from({ length: 100 }, () =>
      client.send(ExecutorControl({ id: randomUUID(), action: "start", waitMs: 60_000 })),
    )
    const settled = await Promise.allSettled(waits)
    expect(settled.some(({ status }) => status === "rejected")).toBe(true)
    expect(ExecutorChunk.is(await client.run(GOOD, id))).toBe(true)
    expect((await ends.client().stream([BLOCK]).next()).value).toMatchObject({ type: "stdout" })
  })
})

describe("an operator", () => {
  it("cannot serve the machine itself by mistake", async () => {
    const host = Object.assign(new ScriptedExecutor(), { runsOnHost: true })
    const refused = await serve(host, { logger: silentLogger })
    await expectFailure(refused.client().start(), "HOST_EXECUTION_REFUSED")
    const allowed = await serve(host, { dangerouslyServeHost: true })
    const executor = allowed.client()
    await executor.start()
    expect(executor.runsOnHost).toBe(true)
  })

  it("is told which options are wrong", async () => {
    const { runtime } = await serve(new ScriptedExecutor())
    const make = (): ScriptedExecutor => new ScriptedExecutor()
    await expectFailure(
      serveCodeExecutor(runtime, { executor: make, max_keys: 1 } as never),
      "OPTION_INVALID",
      /maxKeys/,
    )
    await expectFailure(serveCodeExecutor(runtime, { executor: make }), "AGENT_ALREADY_REGISTERED")
  })

  it("can let what runs end, and nothing begin", async () => {
    const open = gate()
    const far = new ScriptedExecutor(async function* script() {
      yield output("begun")
      await open.promise
      yield finished()
    })
    const ends = await serve(far)
    const executor = ends.client()
    const events = executor.stream([BLOCK])
    await events.next()
    const drained = ends.service.drain().then(() => far.running)
    await expectFailure(executor.executeCodeBlocks([BLOCK]), "TRY_LATER", /about to stop/)
    await expectFailure(ends.client().start(), "TRY_LATER", /about to stop/)
    open.open()
    expect((await events.next()).value).toMatchObject({ type: "finished" })
    expect([await drained, far.ran.length]).toEqual([0, 1])
  })

  it("can end it all, and the runtime goes on", async () => {
    const far = new ScriptedExecutor(endless)
    const ends = await serve(far)
    const executor = ends.client()
    const events = executor.stream([BLOCK])
    await events.next()
    await ends.service.close()
    expect([far.running, far.stops, ends.service.status]).toEqual([0, 1, { keys: 0, runs: 0 }])
    await expectFailure(events.next(), "EXECUTOR_STOPPED")
    await expectFailure(ends.client().start(), "EXECUTOR_STOPPED", /no more code/)
  })
})
