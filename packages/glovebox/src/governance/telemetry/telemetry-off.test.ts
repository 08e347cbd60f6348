import { type MeterProvider, type TracerProvider, context, metrics, trace } from "@opentelemetry/api"
import { afterEach, describe, expect, it } from "vitest"
import { LocalContextManager } from "../../core/telemetry/local-context-manager.test-kit.ts"
import { codeResult } from "../../executors/code-result.test-kit.ts"
import { Telemetry } from "./index.ts"
import { answer, approvalRequest, connection, listener, listening } from "./telemetry.test-kit.ts"

afterEach(() => {
  trace.disable()
  metrics.disable()
  context.disable()
})

const blocks = [{ code: "print(1)", language: "python" }]
// Whoever looks into it fails.
const untouchable = new Proxy([], {
  get: () => {
    throw new Error("looked at")
  },
})

/** A provider of which everything fails, or everything that it makes, or what that makes in turn. */
function failing(depth: number): TracerProvider & MeterProvider {
  return new Proxy({} as TracerProvider & MeterProvider, {
    get: () => (): unknown => {
      if (depth === 0) throw new Error("broken")
      return failing(depth - 1)
    },
  })
}

describe("switched off, or with nothing installed", () => {
  it.each([{ tracerProvider: null, meterProvider: null }, {}])("looks at nothing (%j)", (options) => {
    const telemetry = new Telemetry({ ...options, captureContent: true })
    const run = telemetry.codeRun({ agent: "coder", blocks: untouchable })
    const call = telemetry.modelCall({ agent: "coder", model: "m", messages: untouchable })
    run.end(codeResult())
    call.fail(untouchable)
    expect(run.run(() => 7)).toBe(7)
    // Nothing is made for it either.
    expect(telemetry.invokeAgent({ agent: "coder" })).toBe(run)
  })

  it("makes nothing with null, whatever is installed", async () => {
    const { tracerProvider, meterProvider, spans, metric } = listener()
    trace.setGlobalTracerProvider(tracerProvider)
    metrics.setGlobalMeterProvider(meterProvider)
    const telemetry = new Telemetry({ tracerProvider: null, meterProvider: null })
    telemetry.codeRun({ agent: "coder", blocks }).end(codeResult())
    telemetry.denied({ agent: "coder", kind: "access", name: "shell" })
    expect(spans()).toEqual([])
    expect((await metric("glovebox.code.runs")).points).toEqual([])
  })

  it("keeps the caller's context, and a parent's", () => {
    context.setGlobalContextManager(new LocalContextManager())
    const { telemetry, tracerProvider } = listening()
    const off = new Telemetry({ tracerProvider: null, meterProvider: null })
    const parent = telemetry.invokeAgent({ agent: "coder" })
    const inner = off.toolCall({ agent: "coder", tool: "add", parent })
    expect(inner.context).toBe(parent.context)
    expect(inner.run(() => context.active())).toBe(parent.context)
    const mine = trace.setSpan(context.active(), tracerProvider.getTracer("app").startSpan("mine"))
    expect(context.with(mine, () => off.invokeAgent({ agent: "coder" }).context)).toBe(mine)
  })

  it("begins when SDKs are installed, also later, and for pools that were watched before", async () => {
    const telemetry = new Telemetry()
    using _watch = telemetry.watchPool({ pool: { ready: 2, busy: 0, size: 2 } }, { executor: "docker" })
    telemetry.invokeAgent({ agent: "early" }).end({})
    const { tracerProvider, meterProvider, spans, metric } = listener()
    trace.setGlobalTracerProvider(tracerProvider)
    metrics.setGlobalMeterProvider(meterProvider)
    telemetry.invokeAgent({ agent: "late" }).end({})
    expect(spans().map(({ name }) => name)).toEqual(["invoke_agent late"])
    expect((await metric("gen_ai.invoke_agent.duration")).points).toHaveLength(1)
    expect((await metric("glovebox.pool.sandboxes")).points).toHaveLength(2)
  })
})

describe("an SDK that fails", () => {
  it.each([0, 1, 2])("takes no work with it (%d deep)", (depth) => {
    const provider = failing(depth)
    const telemetry = new Telemetry({
      tracerProvider: provider,
      meterProvider: provider,
      captureContent: true,
    })
    const parent = telemetry.codeRun({ agent: "coder", blocks })
    telemetry.egress({ state: "opened", connection: connection() }, { agent: "coder", parent })
    expect(parent.run(() => 7)).toBe(7)
    expect(() => parent.end(codeResult())).not.toThrow()
    expect(() => telemetry.modelCall({ agent: "a", model: "m", parent }).end(answer())).not.toThrow()
    expect(() => telemetry.approval(approvalRequest()).fail(new Error("no"))).not.toThrow()
    expect(() => telemetry.denied({ agent: "a", kind: "filter", name: "x" })).not.toThrow()
    expect(() => telemetry.watchPool({}, { executor: "x" })[Symbol.dispose]()).not.toThrow()
  })

  it("costs its part only: spans without metrics, metrics without spans", async () => {
    const spansOnly = listening({ meterProvider: failing(2) })
    spansOnly.telemetry.codeRun({ agent: "coder", blocks }).end(codeResult())
    expect(spansOnly.span("run_code").ended).toBe(true)
    const metricsOnly = listening({ tracerProvider: failing(1) })
    metricsOnly.telemetry.codeRun({ agent: "coder", blocks }).fail(new Error("no"))
    expect((await metricsOnly.metric("glovebox.code.runs")).points).toHaveLength(1)
  })

  it("does the work though the context manager fails", () => {
    const manager = new LocalContextManager()
    manager.with = (): never => {
      throw new Error("broken")
    }
    context.setGlobalContextManager(manager)
    const { telemetry } = listening()
    expect(telemetry.invokeAgent({ agent: "coder" }).run(() => 7)).toBe(7)
  })
})
