import { typeSubscription } from "glovebox/core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { AutogenPeer } from "./autogen-peer.ts"
import { disposeAll } from "./dispose-all.ts"
import { GloveboxPeer } from "./glovebox-peer.ts"
import { type HostKind, type StartedHost, startHost } from "./hosts.ts"
import { ask } from "./peer.ts"

describe.each<HostKind>(["autogen", "glovebox"])("on the host of %s", (kind) => {
  let host: StartedHost
  let ts: GloveboxPeer
  let py: AutogenPeer

  beforeAll(async () => {
    host = await startHost(kind)
    ;[ts, py] = await Promise.all([
      GloveboxPeer.start("ts", host.address),
      AutogenPeer.start("py", host.address),
    ])
  })

  afterAll(async () => {
    await disposeAll(ts, py, host)
  })

  test("AutoGen's worker cannot take a type of ours, in the words it knows", async () => {
    await expect(py.registerEcho("ts-echo")).rejects.toThrow(
      /Agent type ts-echo already registered with client /,
    )
  })

  test("our worker cannot take a type of AutoGen's, and goes on", async () => {
    await expect(ts.registerEcho("py-echo")).rejects.toMatchObject({ code: "AGENT_ALREADY_REGISTERED" })
    expect(await ts.send(ask("x"), "py-echo/1")).toMatchObject({ message: { by: "py-echo/1" } })
  })

  test("a type registered later is found", async () => {
    await py.registerEcho("py-late")
    expect(await ts.send(ask("x"), "py-late/1")).toMatchObject({ message: { by: "py-late/1" } })
    await ts.registerEcho("ts-late")
    expect(await py.send(ask("x"), "ts-late/1")).toMatchObject({ message: { by: "ts-late/1" } })
  })

  test("AutoGen's worker adds a subscription once, and takes it back", async () => {
    const subscription = { id: "extra", topic: "extra", agent: "py-listener" }
    await py.program.call("subscribe", subscription)
    await ts.publish(ask("first"), "extra/s")
    expect(await py.events.take({ event: "heard", agent: "py-listener/s" })).toMatchObject({ type: "Ask" })
    await expect(py.program.call("subscribe", subscription)).rejects.toThrow(/Subscription already exists/)
    await py.program.call("unsubscribe", { id: "extra" })
    await ts.publish(ask("second"), "extra/s")
    await ts.send(ask("x"), "py-echo/1")
    expect(py.events.rest({ event: "heard" })).toEqual([])
  })

  test("our worker adds a subscription and takes it back", async () => {
    const subscription = typeSubscription("ours", "ts-listener")
    await ts.runtime.addSubscription(subscription)
    await py.publish(ask("first"), "ours/s")
    expect(await ts.events.take({ event: "heard", agent: "ts-listener/s" })).toMatchObject({ type: "Ask" })
    await ts.runtime.removeSubscription(subscription.id)
    await py.publish(ask("second"), "ours/s")
    await py.send(ask("x"), "ts-echo/1")
    expect(ts.events.rest({ event: "heard" })).toEqual([])
  })
})
