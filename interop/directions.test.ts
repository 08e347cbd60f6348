import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { AutogenPeer } from "./autogen-peer.ts"
import { disposeAll } from "./dispose-all.ts"
import { GloveboxPeer } from "./glovebox-peer.ts"
import { type HostKind, type StartedHost, startHost } from "./hosts.ts"
import { outcomeOf } from "./outcome.ts"
import { type Peer, ask } from "./peer.ts"

// One worker that talks to itself would never cross to another, so there are two of each.
const NAMES = ["ts1", "ts2", "py1", "py2"] as const
type Name = (typeof NAMES)[number]

// AutoGen alone on its own host is not ours to test.
const PAIRS: Readonly<Record<HostKind, readonly (readonly [Name, Name])[]>> = {
  autogen: [
    ["ts1", "ts2"],
    ["ts1", "py1"],
    ["py1", "ts1"],
  ],
  glovebox: [
    ["ts1", "ts2"],
    ["ts1", "py1"],
    ["py1", "ts1"],
    ["py1", "py2"],
  ],
}

describe.each<HostKind>(["autogen", "glovebox"])("on the host of %s", (kind) => {
  let host: StartedHost
  let peers: Readonly<Record<Name, Peer>>

  beforeAll(async () => {
    host = await startHost(kind)
    const [ts1, ts2, py1, py2] = await Promise.all([
      GloveboxPeer.start("ts1", host.address),
      GloveboxPeer.start("ts2", host.address),
      AutogenPeer.start("py1", host.address),
      AutogenPeer.start("py2", host.address),
    ])
    peers = { ts1, ts2, py1, py2 }
  })

  afterAll(async () => {
    await disposeAll(...Object.values(peers ?? {}), host)
  })

  describe.each(PAIRS[kind])("from %s to %s", (from, to) => {
    test("a message with fields inside fields, as pydantic writes it, is answered", async () => {
      const reply = await peers[from].send(
        {
          type: "Ask",
          message: { text: "Grüße, 世界 🌍", details: [{ level: 1 }, { level: 2, note: "n" }] },
        },
        `${to}-echo/k 1/ü`,
      )
      expect(reply).toEqual({
        type: "Answer",
        message: {
          text: "Grüße, 世界 🌍",
          by: `${to}-echo/k 1/ü`,
          sender: "",
          details: [
            { level: 1, note: null },
            { level: 2, note: "n" },
          ],
        },
      })
    })

    test("a message as a dataclass writes it is answered", async () => {
      const reading = { sensor: "s", value: 1.25, good: true }
      const reply = await peers[from].send({ type: "Reading", message: reading }, `${to}-echo/d`)
      expect(reply).toEqual({ type: "Reading", message: { sensor: "s", value: 2.5, good: false } })
    })

    test("the sender is told", async () => {
      const reply = await peers[from].send(ask("who"), `${to}-echo/k`, { sender: `${from}-echo/me` })
      expect(reply.message).toMatchObject({ sender: `${from}-echo/me` })
    })

    test("an agent's error has its text at the caller", async () => {
      const failed = await outcomeOf(peers[from].send(ask("fail:it went: wrong"), `${to}-trouble/f`))
      const code = peers[from].language === "typescript" ? "AGENT_FAILED" : undefined
      expect(failed).toEqual({ code, text: "it went: wrong" })
    })

    test("many at once find their answers", async () => {
      const texts = Array.from({ length: 100 }, (_, index) => `question ${index}`)
      const replies = await Promise.all(
        texts.map((text, index) => peers[from].send(ask(text), `${to}-echo/${index % 7}`)),
      )
      expect(replies.map(({ message }) => (message as { readonly text: string }).text)).toEqual(texts)
    })

    test("a large message is carried", async () => {
      const text = "x".repeat(3_000_000)
      const reply = await peers[from].send(ask(text), `${to}-echo/large`)
      expect(reply.message).toMatchObject({ text })
    })
  })

  describe.each<Name>(["ts1", "py1"])("published by %s", (from) => {
    test.each([
      { subscription: "a type", topic: "news", listener: "listener" },
      { subscription: "a prefix", topic: "weather.rain", listener: "prefix-listener" },
    ])("a message reaches the subscribers of $subscription, each once", async ({ topic, listener }) => {
      const source = `${from}-${listener}`
      await peers[from].publish(ask("all"), `${topic}/${source}`)
      const reading = { sensor: "s", value: 0.5, good: true }
      await peers[from].publish({ type: "Reading", message: reading }, `${topic}/${source}`)
      for (const name of NAMES) {
        const agent = `${name}-${listener}/${source}`
        const heard = await peers[name].events.take({ event: "heard", agent, type: "Ask" })
        expect(heard).toMatchObject({ message: ask("all").message, topic: `${topic}/${source}` })
        expect(heard["id"]).not.toBe("")
        expect(await peers[name].events.take({ event: "heard", agent, type: "Reading" })).toMatchObject({
          message: reading,
        })
      }
      await roundTrips()
      for (const name of NAMES) expect(peers[name].events.rest({ event: "heard" })).toEqual([])
    })

    test("a message comes with its sender, who does not hear it", async () => {
      const sender = `${from}-listener/by-one`
      await peers[from].publish(ask("signed"), "news/by-one", { sender })
      for (const name of NAMES.filter((name) => name !== from)) {
        const agent = `${name}-listener/by-one`
        expect(await peers[name].events.take({ event: "heard", agent })).toMatchObject({ sender })
      }
      await roundTrips()
      expect(peers[from].events.rest({ event: "heard" })).toEqual([])
    })

    test("a topic that nobody listens to is no error", async () => {
      await peers[from].publish(ask("nobody"), "unheard-of/x")
      await roundTrips()
      for (const name of NAMES) expect(peers[name].events.rest({ event: "heard" })).toEqual([])
    })

    test("a listener that fails takes nothing from the others", async () => {
      await peers[from].publish(ask("fail"), "news/failing")
      await peers[from].publish(ask("next"), "news/failing")
      for (const name of NAMES) {
        const agent = `${name}-listener/failing`
        const texts = [
          await peers[name].events.take({ event: "heard", agent }),
          await peers[name].events.take({ event: "heard", agent }),
        ].map(({ message }) => (message as { readonly text: string }).text)
        expect(texts).toEqual(["fail", "next"])
      }
    })
  })

  /** What was published before has arrived when an answer of the same worker has. */
  async function roundTrips(): Promise<void> {
    for (const to of NAMES) await peers.ts1.send(ask("there?"), `${to}-echo/ready`)
  }
})
