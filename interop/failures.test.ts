import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { AutogenPeer } from "./autogen-peer.ts"
import { disposeAll } from "./dispose-all.ts"
import { GloveboxPeer } from "./glovebox-peer.ts"
import { type HostKind, type StartedHost, startAutogenHost, startGloveboxHost } from "./hosts.ts"
import { outcomeOf } from "./outcome.ts"
import { type PlainMessage, ask } from "./peer.ts"

/** AutoGen's workers, and its host, give no sign of some failures: then the time of a call ends the wait. */
const TIMEOUT_MS = 2_000

type Callee = "ts" | "py"

interface Situation {
  readonly situation: string
  readonly message: PlainMessage
  readonly agent: string
  /** What our caller gets from our agent, and from AutoGen's. */
  readonly ours: Readonly<Record<Callee, object>>
  /** What AutoGen's caller gets from our host. */
  readonly autogens: Readonly<Record<Callee, object>>
}

const failed = (code: string): object => ({ code, text: expect.stringMatching(/./) })
const told = (text: RegExp): object => ({ text: expect.stringMatching(text) })
const TIMED_OUT = told(/\b2000 ms\b|in time|timed out/i)
const SITUATIONS: readonly Situation[] = [
  {
    situation: "a handler fails without a text",
    message: ask("fail without text"),
    agent: "trouble/x",
    ours: { ts: failed("AGENT_FAILED"), py: failed("AGENT_FAILED") },
    autogens: { ts: told(/without a text|no text/), py: told(/without a text|no text/) },
  },
  {
    situation: "a handler answers nothing",
    message: ask("nothing"),
    agent: "trouble/x",
    ours: { ts: { value: { type: "nothing" } }, py: failed("SEND_TIMEOUT") },
    autogens: { ts: { value: { type: "UnknownPayload" } }, py: TIMED_OUT },
  },
  {
    situation: "the receiver cannot read the message",
    message: { type: "Unheard", message: { text: "x" } },
    agent: "echo/x",
    ours: { ts: failed("MESSAGE_UNHANDLED"), py: failed("SEND_TIMEOUT") },
    autogens: { ts: told(/Unheard/), py: TIMED_OUT },
  },
  {
    situation: "the agent cannot be made",
    message: ask("x"),
    agent: "broken/x",
    ours: { ts: failed("AGENT_CREATION_FAILED"), py: failed("SEND_TIMEOUT") },
    autogens: { ts: told(/no parts left/), py: TIMED_OUT },
  },
]

// AutoGen's callers on AutoGen's host wait forever, and are not ours to help.
const CALLERS = { autogen: ["our"], glovebox: ["our", "AutoGen's"] } as const

describe.each<HostKind>(["autogen", "glovebox"])("on the host of %s", (kind) => {
  let host: StartedHost
  let ts: GloveboxPeer
  let py: AutogenPeer
  let caller: GloveboxPeer
  let autogensCaller: AutogenPeer

  beforeAll(async () => {
    host = await (kind === "autogen"
      ? startAutogenHost()
      : startGloveboxHost({ requestTimeoutMs: TIMEOUT_MS }))
    ;[ts, py, caller, autogensCaller] = await Promise.all([
      GloveboxPeer.start("ts", host.address),
      AutogenPeer.start("py", host.address),
      GloveboxPeer.start("ts-caller", host.address, { sendTimeoutMs: TIMEOUT_MS }),
      AutogenPeer.start("py-caller", host.address),
    ])
  })

  afterAll(async () => {
    await disposeAll(ts, py, caller, autogensCaller, host)
  })

  // At the same time, because half of them wait until their time is up.
  describe.concurrent.each(SITUATIONS)("when $situation", ({ message, agent, ours, autogens }) => {
    describe.each(["ts", "py"] as const)("at a worker of %s", (callee) => {
      test.each(CALLERS[kind])("%s caller learns it", async (which) => {
        const send = (which === "our" ? caller : autogensCaller).send(message, `${callee}-${agent}`)
        expect(await outcomeOf(send)).toMatchObject(which === "our" ? ours[callee] : autogens[callee])
      })
    })
  })

  test("our caller learns that nobody has the type, from a host that tells it", async () => {
    const code = kind === "glovebox" ? "AGENT_TYPE_UNKNOWN" : "SEND_TIMEOUT"
    await expect(caller.send(ask("x"), "nobody/x")).rejects.toMatchObject({ code })
  })

  test.each(CALLERS[kind].slice(1))("%s caller learns that nobody has the type", async () => {
    await expect(autogensCaller.send(ask("x"), "nobody/x")).rejects.toThrow(/nobody/)
  })

  test("what comes after such failures works", async () => {
    expect(await caller.send(ask("still there"), "py-echo/x")).toMatchObject({ type: "Answer" })
    expect(await autogensCaller.send(ask("still there"), "ts-echo/x")).toMatchObject({ type: "Answer" })
  })
})
