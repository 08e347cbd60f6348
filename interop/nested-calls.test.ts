import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { AutogenPeer } from "./autogen-peer.ts"
import { disposeAll } from "./dispose-all.ts"
import { GloveboxPeer } from "./glovebox-peer.ts"
import { type HostKind, type StartedHost, startGloveboxHost, startHost } from "./hosts.ts"
import { type Peer, ask } from "./peer.ts"

type Peers = Readonly<Record<"ts" | "py" | "py2", Peer>>

async function startPeers({ address }: StartedHost): Promise<Peers> {
  const [ts, py, py2] = await Promise.all([
    GloveboxPeer.start("ts", address),
    AutogenPeer.start("py", address),
    AutogenPeer.start("py2", address),
  ])
  return { ts, py, py2 }
}

describe.each<HostKind>(["autogen", "glovebox"])("on the host of %s", (kind) => {
  let host: StartedHost
  let peers: Peers

  beforeAll(async () => {
    host = await startHost(kind)
    peers = await startPeers(host)
  })

  afterAll(async () => {
    await disposeAll(...Object.values(peers ?? {}), host)
  })

  // Through one worker and back, where AutoGen's host confuses the calls when their ids are alike.
  test.each([
    { from: "ts", path: ["py-walker/a", "ts-walker/b"] },
    { from: "ts", path: ["ts-walker/a", "py-walker/b", "ts-walker/c", "py-walker/d"] },
    { from: "py", path: ["ts-walker/a", "py-walker/b"] },
    { from: "py", path: ["ts-walker/a", "py-walker/b", "ts-walker/c", "py-walker/d"] },
  ] as const)("a call of $from goes $path", async ({ from, path }) => {
    const [first, ...rest] = path
    const reply = await peers[from].send({ type: "Walk", message: { path: rest } }, first)
    expect(reply).toEqual({ type: "Trail", message: { steps: path } })
  })
})

// The same on AutoGen's own host is a wait without end (its issue 7016).
describe("where AutoGen's host waits forever, ours", () => {
  let host: StartedHost
  let peers: Peers

  beforeAll(async () => {
    host = await startGloveboxHost()
    peers = await startPeers(host)
  })

  afterAll(async () => {
    await disposeAll(...Object.values(peers ?? {}), host)
  })

  test.each([
    { from: "py", path: ["py-walker/a", "py-walker/b", "py-walker/c"] },
    { from: "py2", path: ["py-walker/a", "py2-walker/b", "py-walker/c"] },
  ] as const)("lets a call of $from go $path", async ({ from, path }) => {
    const [first, ...rest] = path
    const reply = await peers[from].send({ type: "Walk", message: { path: rest } }, first)
    expect(reply).toEqual({ type: "Trail", message: { steps: path } })
  })

  test.each(["ts", "py"] as const)(
    "gives two workers with the same ids each its answers from %s",
    async (to) => {
      const texts = Array.from({ length: 100 }, (_, index) => String(index))
      const answers = await Promise.all(
        (["py", "py2"] as const).map((from) =>
          Promise.all(texts.map((text) => peers[from].send(ask(`${from} ${text}`), `${to}-echo/${text}`))),
        ),
      )
      expect(answers.map((list) => list.map(({ message }) => (message as { text: string }).text))).toEqual([
        texts.map((text) => `py ${text}`),
        texts.map((text) => `py2 ${text}`),
      ])
    },
  )

  test.each([
    { name: "our agent, which waits for it", keys: ["circle"] },
    { name: "several of ours over one of AutoGen's", keys: ["a", "b", "c", "d"] },
  ])("lets calls through that come back to $name", async ({ keys }) => {
    const paths = keys.map((key) => [`ts-walker/${key}`, "py-walker/circle", `ts-walker/${key}`])
    const walks = paths.map(async ([first = "", ...path]) => {
      return await peers.ts.send({ type: "Walk", message: { path } }, first, { timeoutMs: 5_000 })
    })
    expect(await Promise.all(walks)).toEqual(paths.map((steps) => ({ type: "Trail", message: { steps } })))
  })
})
