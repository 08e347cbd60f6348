import { agentId } from "glovebox/core"
import type { GrpcWorkerAgentRuntimeHost } from "glovebox/runtimes/grpc"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { AutogenPeer } from "./autogen-peer.ts"
import { disposeAll } from "./dispose-all.ts"
import { GloveboxPeer } from "./glovebox-peer.ts"
import { type HostKind, type StartedHost, startGloveboxHost, startHost } from "./hosts.ts"
import { outcomeOf } from "./outcome.ts"
import { ask } from "./peer.ts"

describe.each<HostKind>(["autogen", "glovebox"])("what AutoGen has not, on the host of %s", (kind) => {
  let host: StartedHost
  let first: GloveboxPeer
  let second: GloveboxPeer
  let py: AutogenPeer

  beforeAll(async () => {
    host = await startHost(kind)
    ;[first, second, py] = await Promise.all([
      GloveboxPeer.start("first", host.address, { sendTimeoutMs: 3_000 }),
      GloveboxPeer.start("second", host.address),
      AutogenPeer.start("py", host.address),
    ])
  })

  afterAll(async () => {
    await disposeAll(first, second, py, host)
  })

  test("our agents elsewhere are described, and their state is saved and loaded", async () => {
    const id = agentId("second-echo", "kept")
    expect(await first.runtime.agentMetadata(id)).toMatchObject({ type: "second-echo", key: "kept" })
    const state = await first.runtime.saveAgentState(id)
    await first.runtime.loadAgentState(id, state)
    expect(await first.runtime.saveAgentState(id)).toEqual(state)
  })

  test("AutoGen's agents have no state to be had, which is an error in time", async () => {
    const outcome = await outcomeOf(first.runtime.saveAgentState(agentId("py-echo", "x")))
    expect(outcome).toMatchObject({ code: expect.stringMatching(/^[A-Z_]+$/) })
  })

  test("our workers become idle with AutoGen's beside them", async () => {
    await Promise.all([first.send(ask("x"), "py-echo/1"), py.send(ask("x"), "first-echo/1")])
    await first.publish(ask("x"), "news/idle")
    await first.runtime.whenIdle()
    expect(await first.events.take({ event: "heard", agent: "first-listener/idle" })).toBeDefined()
    await second.runtime.stopWhenIdle()
    expect(await outcomeOf(second.send(ask("x"), "py-echo/1"))).toMatchObject({ code: "RUNTIME_STOPPED" })
  })
})

describe("a type that two of our workers have, on our host", () => {
  const keys = Array.from({ length: 20 }, (_, index) => `key-${index}`)
  let host: GrpcWorkerAgentRuntimeHost
  let first: GloveboxPeer
  let second: GloveboxPeer
  let py: AutogenPeer

  beforeAll(async () => {
    host = await startGloveboxHost()
    ;[first, second, py] = await Promise.all([
      GloveboxPeer.start("shared", host.address),
      GloveboxPeer.start("shared", host.address),
      AutogenPeer.start("py", host.address),
    ])
  })

  afterAll(async () => {
    await disposeAll(first, second, py, host)
  })

  const heard = (): number => [first, second].flatMap(({ events }) => events.rest({ event: "heard" })).length

  test("is spread over both, for AutoGen's callers too", async () => {
    for (const key of keys) await py.send(ask("x"), `shared-echo/${key}`)
    const agents = host.status().workers.map((worker) => worker.agents)
    expect(agents.toSorted((a, b) => a - b)).toEqual([0, 10, 10])
  })

  test("hears what AutoGen publishes once for each source", async () => {
    for (const key of keys) await py.publish(ask("x"), `news/${key}`)
    for (const key of keys) await py.send(ask("x"), `shared-echo/${key}`)
    await first.runtime.whenIdle()
    expect(heard()).toBe(keys.length)
  })

  test("goes on at one when the other leaves", async () => {
    await second[Symbol.asyncDispose]()
    for (const key of keys) {
      expect(await py.send(ask("x"), `shared-echo/${key}`)).toMatchObject({ type: "Answer" })
    }
    expect(
      host
        .status()
        .workers.map(({ agents }) => agents > 0)
        .filter(Boolean),
    ).toHaveLength(1)
  })
})
