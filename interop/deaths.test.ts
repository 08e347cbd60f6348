import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { AutogenPeer } from "./autogen-peer.ts"
import { disposeAll } from "./dispose-all.ts"
import { GloveboxPeer } from "./glovebox-peer.ts"
import { startGloveboxProgram } from "./glovebox-program.ts"
import { type StartedHost, startAutogenHost, startGloveboxHost } from "./hosts.ts"
import { outcomeOf } from "./outcome.ts"
import { ask } from "./peer.ts"

describe("on our host", () => {
  let host: StartedHost
  let ts: GloveboxPeer
  let py: AutogenPeer

  beforeAll(async () => {
    host = await startGloveboxHost({ graceMs: 3_000 })
    ;[ts, py] = await Promise.all([
      GloveboxPeer.start("ts", host.address),
      AutogenPeer.start("py", host.address),
    ])
  })

  afterAll(async () => {
    await disposeAll(ts, py, host)
  })

  test("both callers learn that AutoGen's worker died while it handled their messages", async () => {
    const mortal = await AutogenPeer.start("mortal", host.address)
    const ours = outcomeOf(ts.send(ask("wait"), "mortal-trouble/1"))
    const autogens = outcomeOf(py.send(ask("wait"), "mortal-trouble/2"))
    await mortal.events.take({ event: "waiting", agent: "mortal-trouble/1" })
    await mortal.events.take({ event: "waiting", agent: "mortal-trouble/2" })
    await mortal.program.kill()
    expect(await ours).toMatchObject({ code: "WORKER_LOST" })
    expect(await autogens).toMatchObject({ text: expect.stringMatching(/^The worker of .+ was lost/) })
    // Its types are free again, for another one.
    await using next = await AutogenPeer.start("mortal", host.address)
    expect(await ts.send(ask("x"), `${next.name}-echo/1`)).toMatchObject({ type: "Answer" })
  })

  test("both callers learn that our worker died while it handled their messages", async () => {
    const mortal = await startGloveboxProgram("killed", host.address)
    const ours = outcomeOf(ts.send(ask("wait"), "killed-trouble/1"))
    const autogens = outcomeOf(py.send(ask("wait"), "killed-trouble/2"))
    await mortal.events.take({ event: "waiting", agent: "killed-trouble/1" })
    await mortal.events.take({ event: "waiting", agent: "killed-trouble/2" })
    await mortal.kill()
    expect(await ours).toMatchObject({ code: "WORKER_LOST" })
    expect(await autogens).toMatchObject({ text: expect.stringMatching(/^The worker of .+ was lost/) })
  })

  test("our agent stops working for an AutoGen caller that died", async () => {
    const caller = await AutogenPeer.start("leaving", host.address)
    const sent = outcomeOf(caller.send(ask("wait"), "ts-trouble/left"))
    await ts.events.take({ event: "waiting", agent: "ts-trouble/left" })
    await caller.program.kill()
    await sent
    expect(await ts.events.take({ event: "cancelled", agent: "ts-trouble/left" })).toBeDefined()
  })

  test("our agent gets no cancellation for an AutoGen caller that still waits", async () => {
    const sent = outcomeOf(py.send(ask("wait"), "ts-trouble/kept"))
    await ts.events.take({ event: "waiting", agent: "ts-trouble/kept" })
    await ts.send(ask("x"), "py-echo/1")
    expect(ts.events.rest({ event: "cancelled" })).toEqual([])
    await ts[Symbol.asyncDispose]()
    await sent
  })
})

describe("on the host of autogen, which tells nobody", () => {
  test("our caller's time ends the wait for a worker that died", async () => {
    await using host = await startAutogenHost()
    await using ts = await GloveboxPeer.start("ts", host.address)
    const mortal = await AutogenPeer.start("mortal", host.address)
    const outcome = outcomeOf(ts.send(ask("wait"), "mortal-trouble/1", { timeoutMs: 1_000 }))
    await mortal.events.take({ event: "waiting" })
    await mortal.program.kill()
    expect(await outcome).toMatchObject({ code: "SEND_TIMEOUT" })
  })
})
