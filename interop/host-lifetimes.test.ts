import { describe, expect, test } from "vitest"
import { AutogenPeer } from "./autogen-peer.ts"
import { GloveboxPeer } from "./glovebox-peer.ts"
import { startAutogenHost, startGloveboxHost } from "./hosts.ts"
import { outcomeOf } from "./outcome.ts"
import { type Peer, ask } from "./peer.ts"

describe("AutoGen's host", () => {
  test("ends: our pending send is told, and so is the next", async () => {
    const host = await startAutogenHost()
    await using ts = await GloveboxPeer.start("ts", host.address)
    await using py = await AutogenPeer.start("py", host.address)
    const pending = outcomeOf(ts.send(ask("wait"), "py-trouble/x"))
    await py.events.take({ event: "waiting" })
    await host[Symbol.asyncDispose]()
    expect(await pending).toMatchObject({ code: "CONNECTION_LOST" })
    const code = expect.stringMatching(/^(HOST_UNAVAILABLE|SEND_TIMEOUT)$/)
    await expect(ts.send(ask("x"), "py-echo/x", { timeoutMs: 500 })).rejects.toMatchObject({ code })
  })

  test("starts again: our worker has its agents and subscriptions there again", async () => {
    const first = await startAutogenHost()
    await using ts = await GloveboxPeer.start("ts", first.address)
    await first[Symbol.asyncDispose]()
    await using second = await startAutogenHost(first.address)
    await using py = await AutogenPeer.start("py", second.address)
    expect(await talkBothWays(ts, py)).toMatchObject(TALKED)
  })
})

describe("our host", () => {
  test("ends: AutoGen's pending send is told", async () => {
    const host = await startGloveboxHost()
    await using ts = await GloveboxPeer.start("ts", host.address)
    await using py = await AutogenPeer.start("py", host.address)
    const pending = outcomeOf(py.send(ask("wait"), "ts-trouble/x"))
    await ts.events.take({ event: "waiting" })
    await host.stop({ graceMs: 0 })
    expect(await pending).toMatchObject({ text: expect.stringMatching(/./) })
  })

  test("starts again: our worker has its agents and subscriptions there again", async () => {
    const first = await startGloveboxHost()
    await using ts = await GloveboxPeer.start("ts", first.address)
    await first.stop({ graceMs: 0 })
    await using second = await startGloveboxHost({ address: first.address })
    await using py = await AutogenPeer.start("py", second.address)
    expect(await talkBothWays(ts, py)).toMatchObject(TALKED)
  })

  test("lets AutoGen's worker come again under its types, after it left", async () => {
    await using host = await startGloveboxHost()
    await using ts = await GloveboxPeer.start("ts", host.address)
    const first = await AutogenPeer.start("py", host.address)
    await first.program.stop()
    await using second = await AutogenPeer.start("py", host.address)
    expect(await talkBothWays(ts, second)).toMatchObject(TALKED)
  })
})

const TALKED = {
  answers: [
    { text: "a", by: "py-echo/x" },
    { text: "b", by: "ts-echo/x" },
  ],
  heard: ["ts: c", "ts: d", "py: c", "py: d"],
}

async function talkBothWays(ts: Peer, py: Peer): Promise<unknown> {
  // An answer to ours tells that our worker is back: AutoGen's host says nothing to those who call too early.
  const answers = [await ts.send(ask("a"), "py-echo/x"), await py.send(ask("b"), "ts-echo/x")]
  await py.publish(ask("c"), "news/again")
  await ts.publish(ask("d"), "weather.sun/again")
  const heard: string[] = []
  for (const peer of [ts, py]) {
    for (const listener of ["listener", "prefix-listener"]) {
      const { message } = await peer.events.take({ event: "heard", agent: `${peer.name}-${listener}/again` })
      heard.push(`${peer.name}: ${(message as { readonly text: string }).text}`)
    }
  }
  return { answers: answers.map(({ message }) => message), heard }
}
