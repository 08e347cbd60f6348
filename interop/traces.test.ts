import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { AutogenPeer } from "./autogen-peer.ts"
import { disposeAll } from "./dispose-all.ts"
import { GloveboxPeer } from "./glovebox-peer.ts"
import { type HostKind, type StartedHost, startHost } from "./hosts.ts"
import { ask } from "./peer.ts"

interface PythonSpan {
  readonly name: string
  readonly trace: string
  readonly links: readonly string[]
}

describe.each<HostKind>(["autogen", "glovebox"])("on the host of %s", (kind) => {
  const exporter = new InMemorySpanExporter()
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  let host: StartedHost
  let ts: GloveboxPeer
  let py: AutogenPeer

  beforeAll(async () => {
    host = await startHost(kind)
    ;[ts, py] = await Promise.all([
      GloveboxPeer.start("ts", host.address, { tracerProvider }),
      AutogenPeer.start("py", host.address),
    ])
  })

  beforeEach(() => exporter.reset())

  afterAll(async () => {
    await disposeAll(ts, py, host)
  })

  // AutoGen links what it does to the trace that a message came with.
  const linksOf = async (agent: string): Promise<readonly string[]> =>
    ((await py.program.call("spans")) as readonly PythonSpan[])
      .filter(({ name }) => name.startsWith(`autogen process ${agent}`))
      .flatMap(({ links }) => links)
  const ourTraces = (): readonly string[] => [
    ...new Set(exporter.getFinishedSpans().map((span) => span.spanContext().traceId)),
  ]

  test("our request has its trace at AutoGen's agent", async () => {
    await ts.send(ask("x"), "py-echo/traced")
    expect(await linksOf("py-echo.(traced)")).toEqual(ourTraces())
  })

  test("our event has its trace at AutoGen's agent", async () => {
    await ts.publish(ask("x"), "weather.fog/traced")
    await py.events.take({ event: "heard", agent: "py-prefix-listener/traced" })
    // The span ends after the handler that told of the event.
    await py.send(ask("x"), "py-echo/later")
    const [trace, ...others] = ourTraces()
    expect(others).toEqual([])
    expect(await linksOf("py-prefix-listener.(traced)")).toEqual([trace])
  })

  test("AutoGen's request has its trace at our agent", async () => {
    await py.send(ask("x"), "ts-echo/traced")
    const spans = (await py.program.call("spans")) as readonly PythonSpan[]
    const created = spans.filter(({ name }) => name.startsWith("autogen create ts-echo.(traced)"))
    expect(created).toHaveLength(1)
    expect(ourTraces()).toEqual([created[0]?.trace])
  })
})
