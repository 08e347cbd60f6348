import { ROOT_CONTEXT, context, trace } from "@opentelemetry/api"
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base"
import { afterEach, describe, expect, it } from "vitest"
import { z } from "zod"
import {
  ClosureAgent,
  SingleThreadedAgentRuntime,
  agentId,
  contextFromTraceMetadata,
  defineMessage,
  silentLogger,
  topicId,
  traceMetadataOf,
  typeSubscription,
} from "../index.ts"
import { LocalContextManager } from "./local-context-manager.test-kit.ts"

const Hop = defineMessage("Hop", z.object({ left: z.number() }))
const SECRET = "do-not-record"
const Secret = defineMessage("Secret", z.object({ text: z.string() }))

function tracing(): { provider: BasicTracerProvider; spans: () => ReadableSpan[] } {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  return { provider, spans: () => exporter.getFinishedSpans() }
}

afterEach(() => {
  trace.disable()
  context.disable()
})

async function hopping(
  provider: BasicTracerProvider | null | undefined,
): Promise<SingleThreadedAgentRuntime> {
  const runtime = new SingleThreadedAgentRuntime({ tracerProvider: provider, logger: silentLogger })
  await runtime.register(
    "hop",
    () =>
      new ClosureAgent([Hop], async ({ left }, _context, agent) => {
        if (left < 0) throw new Error("negative")
        if (left > 0) await agent.send(Hop({ left: left - 1 }), agentId("hop", String(left - 1)))
      }),
    { subscriptions: [typeSubscription("hops")] },
  )
  runtime.start()
  return runtime
}

const names = (spans: readonly ReadableSpan[]): string[] => spans.map(({ name }) => name)

describe("tracing", () => {
  it("ends create, then process, then publish, for one publication to one agent", async () => {
    const { provider, spans } = tracing()
    await using runtime = await hopping(provider)
    await runtime.publish(Hop({ left: 0 }), topicId("hops", "s"))
    await runtime.stopWhenIdle()
    expect(names(spans())).toEqual([
      "glovebox create hops/s",
      "glovebox process hop/s",
      "glovebox publish hops/s",
    ])
  })

  it.each([true, false])("makes one tree of nested sends (context manager: %s)", async (hasManager) => {
    if (hasManager) context.setGlobalContextManager(new LocalContextManager())
    const { provider, spans } = tracing()
    await using runtime = await hopping(provider)
    await runtime.send(Hop({ left: 1 }), agentId("hop", "1"))
    await runtime.stopWhenIdle()
    const byId = new Map(spans().map((span) => [span.spanContext().spanId, span]))
    const path = (span: ReadableSpan | undefined): string[] =>
      span
        ? [...path(byId.get(span.parentSpanContext?.spanId ?? "")), span.name.replace("glovebox ", "")]
        : []
    const leaf = spans().find(({ name }) => name === "glovebox process hop/0")
    expect(path(leaf)).toEqual([
      "create hop/1",
      "send hop/1",
      "process hop/1",
      "create hop/0",
      "send hop/0",
      "process hop/0",
    ])
    expect(new Set(spans().map((span) => span.spanContext().traceId)).size).toBe(1)
  })

  it("is a child of the caller's span", async () => {
    context.setGlobalContextManager(new LocalContextManager())
    const { provider, spans } = tracing()
    await using runtime = await hopping(provider)
    const parent = provider.getTracer("test").startSpan("request")
    await context.with(trace.setSpan(context.active(), parent), () =>
      runtime.send(Hop({ left: 0 }), agentId("hop")),
    )
    parent.end()
    const created = spans().find(({ name }) => name.startsWith("glovebox create"))
    expect(created?.parentSpanContext?.spanId).toBe(parent.spanContext().spanId)
  })

  it("uses a global provider that is installed after the runtime was made", async () => {
    await using runtime = await hopping(undefined)
    await runtime.send(Hop({ left: 0 }), agentId("hop"))
    const { provider, spans } = tracing()
    trace.setGlobalTracerProvider(provider)
    await runtime.send(Hop({ left: 0 }), agentId("hop"))
    expect(names(spans()).filter((name) => name.includes("process"))).toHaveLength(1)
  })

  it("can be switched off", async () => {
    const { provider, spans } = tracing()
    trace.setGlobalTracerProvider(provider)
    await using runtime = await hopping(null)
    await runtime.send(Hop({ left: 0 }), agentId("hop"))
    expect(spans()).toEqual([])
  })

  it("marks failures, on the handler and on the send", async () => {
    const { provider, spans } = tracing()
    await using runtime = await hopping(provider)
    await expect(runtime.send(Hop({ left: -1 }), agentId("hop"))).rejects.toThrow("negative")
    const failed = spans().filter(({ status }) => status.message === "negative")
    expect(names(failed)).toEqual(["glovebox process hop/default", "glovebox send hop/default"])
  })

  it("never records what a message says", async () => {
    const { provider, spans } = tracing()
    await using runtime = new SingleThreadedAgentRuntime({ tracerProvider: provider })
    await runtime.register("vault", () => new ClosureAgent([Secret], () => {}))
    runtime.start()
    await runtime.send(Secret({ text: SECRET }), agentId("vault"))
    expect(spans()).toHaveLength(3)
    expect(
      JSON.stringify(spans().map(({ attributes, name, events }) => [attributes, name, events])),
    ).not.toContain(SECRET)
  })
})

describe("traceMetadataOf", () => {
  it("writes what contextFromTraceMetadata reads", () => {
    const { provider } = tracing()
    const span = provider.getTracer("test").startSpan("origin")
    const metadata = traceMetadataOf(span)
    expect(metadata.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
    const read = trace.getSpanContext(contextFromTraceMetadata({ ...metadata, tracestate: "vendor=1" }))
    expect(read).toMatchObject({ ...idsOf(span.spanContext()), isRemote: true })
    expect(read?.traceState?.get("vendor")).toBe("1")
  })

  it.each([
    undefined,
    { traceparent: "" },
    { traceparent: "00-xyz-1-01" },
    { traceparent: `00-${"0".repeat(31)}-1-1` },
  ])("reads %j as no context", (metadata) => {
    expect(contextFromTraceMetadata(metadata)).toBe(ROOT_CONTEXT)
  })
})

function idsOf({ traceId, spanId }: { traceId: string; spanId: string }): {
  traceId: string
  spanId: string
} {
  return { traceId, spanId }
}
