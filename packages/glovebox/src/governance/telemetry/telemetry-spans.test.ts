import { SpanKind, SpanStatusCode, context, trace } from "@opentelemetry/api"
import { createHash } from "node:crypto"
import { afterEach, describe, expect, it } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { GloveboxError } from "../../core/index.ts"
import { LocalContextManager } from "../../core/telemetry/local-context-manager.test-kit.ts"
import { blockResult, codeResult } from "../../executors/code-result.test-kit.ts"
import { errorResult } from "../../tools/tool-result.ts"
import { ApprovalError } from "../index.ts"
import { Telemetry, type TelemetryOptions } from "./index.ts"
import { answer, approvalRequest, listening } from "./telemetry.test-kit.ts"

afterEach(() => {
  context.disable()
})

const DONE = { type: "ToolResult", name: "add", result: [], isError: false } as const
const blocks = [{ code: "print(1)", language: "python" }]

describe("the spans of an agent", () => {
  it("has the conventions' names and attributes for an agent's turn", () => {
    const { telemetry, span } = listening()
    telemetry.invokeAgent({ agent: "coder", run: "r1" }).end({ stopKind: "done" })
    expect(span("invoke_agent coder")).toMatchObject({
      kind: SpanKind.INTERNAL,
      status: { code: SpanStatusCode.UNSET },
      instrumentationScope: { name: "glovebox" },
    })
    expect(span("invoke_agent coder").attributes).toEqual({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "coder",
      "glovebox.run.id": "r1",
      "glovebox.agent.stop_kind": "done",
    })
  })

  it("has them for a call of a model", () => {
    const { telemetry, span } = listening()
    const info = { agent: "coder", model: "gpt-5", provider: "azure-openai", streams: true, tools: 2 }
    telemetry.modelCall(info).end(answer({ finishReason: "function_calls" }))
    expect(span("chat gpt-5").kind).toBe(SpanKind.CLIENT)
    expect(span("chat gpt-5").attributes).toEqual({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "azure.ai.openai",
      "gen_ai.request.model": "gpt-5",
      "gen_ai.request.stream": true,
      "gen_ai.agent.name": "coder",
      "gen_ai.response.finish_reasons": ["tool_call"],
      "gen_ai.usage.input_tokens": 12,
      "gen_ai.usage.output_tokens": 3,
      "glovebox.request.tools": 2,
      "glovebox.response.cached": false,
    })
  })

  it("tells no tokens where the provider told none", () => {
    const { telemetry, span } = listening()
    const usage = { promptTokens: 0, completionTokens: 0 }
    telemetry.modelCall({ agent: "coder", model: "m" }).end(answer({ usage }))
    expect(span("chat m").attributes).not.toHaveProperty("gen_ai.usage.input_tokens")
    expect(span("chat m").attributes).toMatchObject({ "gen_ai.provider.name": "unknown" })
  })

  it("has them for a call of a tool", () => {
    const { telemetry, span } = listening()
    telemetry.toolCall({ agent: "coder", tool: "add", callId: "call_1", risk: "low" }).end(DONE)
    expect(span("execute_tool add").kind).toBe(SpanKind.INTERNAL)
    expect(span("execute_tool add").attributes).toEqual({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "add",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": "call_1",
      "gen_ai.agent.name": "coder",
      "glovebox.tool.risk": "low",
    })
  })

  it("marks a tool's failure without its words", () => {
    const { telemetry, span } = listening()
    telemetry.toolCall({ agent: "coder", tool: "add" }).end(errorResult("add", "no such number"))
    expect(span("execute_tool add")).toMatchObject({
      status: { code: SpanStatusCode.ERROR },
      attributes: { "error.type": "tool_error" },
      events: [],
    })
  })

  it("tells of a code run what ran, where, under which policy, and how it ended", () => {
    const { telemetry, span } = listening()
    const result = codeResult({
      exitCode: 124,
      termination: "timeout",
      blocks: [blockResult({ limitsHit: ["wall"] }), blockResult({ limitsHit: ["wall", "memory"] })],
      sandbox: {
        kind: "docker",
        policySha256: "p2",
        isolation: "run",
        image: "python:3-slim",
        imageDigest: "sha256:1",
        runtime: "runc",
        containerId: "c1",
        pooled: true,
        effective: {},
      },
    })
    telemetry.codeRun({ agent: "coder", executor: "docker", blocks, policySha256: "p1" }).end(result)
    expect(span("run_code docker")).toMatchObject({
      kind: SpanKind.INTERNAL,
      status: { code: SpanStatusCode.ERROR },
    })
    expect(span("run_code docker").attributes).toEqual({
      "gen_ai.agent.name": "coder",
      "error.type": "timeout",
      "process.exit.code": 124,
      "container.id": "c1",
      "container.image.id": "sha256:1",
      "container.image.name": "python:3-slim",
      "glovebox.executor": "docker",
      "glovebox.policy.sha256": "p2",
      "glovebox.code.blocks": 1,
      "glovebox.code.languages": ["python"],
      "glovebox.code.sha256": [createHash("sha256").update("print(1)").digest("hex")],
      "glovebox.code.termination": "timeout",
      "glovebox.code.limits_hit": ["wall", "memory"],
      "glovebox.code.truncated": false,
      "glovebox.code.artifacts": 0,
      "glovebox.sandbox.kind": "docker",
      "glovebox.sandbox.isolation": "run",
      "glovebox.sandbox.runtime": "runc",
      "glovebox.sandbox.pooled": true,
    })
  })

  it.each([
    [{ exitCode: 0 }, undefined, SpanStatusCode.UNSET],
    [{ exitCode: 3 }, "exit_code", SpanStatusCode.ERROR],
    [{ exitCode: 137, termination: "oom" } as const, "oom", SpanStatusCode.ERROR],
  ])("takes a run that ended as %j for %s", (fields, type, code) => {
    const { telemetry, span } = listening()
    telemetry.codeRun({ agent: "coder", blocks }).end(codeResult(fields))
    expect(span("run_code").attributes["error.type"]).toBe(type)
    expect(span("run_code").status.code).toBe(code)
  })
})

describe("the span of an approval", () => {
  it("lasts from the request to the answer, and tells who gave it", () => {
    const { telemetry, span } = listening()
    const created = Date.now() - 90_000
    telemetry.approval(approvalRequest({ created })).end({ decision: "approved", by: "ada" })
    const found = span("approval code")
    expect(found.startTime[0]).toBe(Math.floor(created / 1000))
    expect(found.attributes).toMatchObject({
      "gen_ai.agent.name": "coder",
      "glovebox.approval.id": approvalRequest().id,
      "glovebox.approval.kind": "code",
      "glovebox.approval.sha256": "a".repeat(64),
      "glovebox.approval.risk": "high",
      "glovebox.approval.widenings": 1,
      "glovebox.approval.decision": "approved",
      "glovebox.approval.by": "ada",
    })
  })

  it.each([
    ["APPROVAL_DENIED", "denied"],
    ["APPROVAL_EXPIRED", "expired"],
    ["APPROVAL_PENDING", "pending"],
  ] as const)("takes %s for an answer", (code, decision) => {
    const { telemetry, span } = listening()
    telemetry.approval(approvalRequest()).fail(new ApprovalError(code, "1", "No."))
    expect(span("approval code")).toMatchObject({
      status: { code: SpanStatusCode.UNSET },
      attributes: { "glovebox.approval.decision": decision },
    })
  })

  it("fails when the asking does", () => {
    const { telemetry, span } = listening()
    telemetry.approval(approvalRequest()).fail(new TypeError("the approver broke"))
    expect(span("approval code")).toMatchObject({
      status: { code: SpanStatusCode.ERROR, message: "the approver broke" },
      attributes: { "error.type": "TypeError" },
    })
  })
})

describe("an observation", () => {
  it.each([true, false])(
    "makes one tree of what happens inside (context manager: %s)",
    async (hasManager) => {
      if (hasManager) context.setGlobalContextManager(new LocalContextManager())
      const { telemetry, span } = listening()
      const given = <Parent>(parent: Parent): { parent?: Parent } => (hasManager ? {} : { parent })
      const agent = telemetry.invokeAgent({ agent: "coder" })
      await agent.run(async () => {
        await Promise.resolve()
        const tool = telemetry.toolCall({ agent: "coder", tool: "add", ...given(agent) })
        await tool.run(async () => {
          await Promise.resolve()
          const code = telemetry.codeRun({ agent: "coder", blocks, ...given(tool) })
          code.run(() => telemetry.approval(approvalRequest(), given(code))).end({ decision: "approved" })
          code.end(codeResult())
        })
        tool.end(DONE)
      })
      agent.end({})
      const path = ["invoke_agent coder", "execute_tool add", "run_code", "approval code"].map(span)
      const parents = path.map(({ parentSpanContext }) => parentSpanContext?.spanId)
      expect(parents).toEqual([undefined, ...path.slice(0, -1).map((one) => one.spanContext().spanId)])
    },
  )

  it("is a child of the caller's span", () => {
    context.setGlobalContextManager(new LocalContextManager())
    const { telemetry, span, tracerProvider } = listening()
    const request = tracerProvider.getTracer("app").startSpan("request")
    context.with(trace.setSpan(context.active(), request), () =>
      telemetry.invokeAgent({ agent: "coder" }).end({}),
    )
    expect(span("invoke_agent coder").parentSpanContext?.spanId).toBe(request.spanContext().spanId)
  })

  it("fails with the code of the error, and with its message and stack redacted", () => {
    const { telemetry, span } = listening()
    const error = new GloveboxError("MODEL_UNAVAILABLE", "No answer for key AKIAIOSFODNN7EXAMPLE.")
    telemetry.modelCall({ agent: "coder", model: "m" }).fail(error)
    const { status, attributes, events } = span("chat m")
    const message = "No answer for key [redacted:aws-access-key]."
    expect(status).toEqual({ code: SpanStatusCode.ERROR, message })
    expect(attributes["error.type"]).toBe("MODEL_UNAVAILABLE")
    expect(events[0]).toMatchObject({
      name: "exception",
      attributes: { "exception.type": "MODEL_UNAVAILABLE", "exception.message": message },
    })
    expect(JSON.stringify(events)).not.toContain("AKIA")
    expect(String(events[0]?.attributes?.["exception.stacktrace"])).toContain("telemetry-spans.test")
  })

  it.each([undefined, "left", 7, null])("fails with what is no error: %j", (thrown) => {
    const { telemetry, span } = listening()
    telemetry.invokeAgent({ agent: "coder" }).fail(thrown)
    expect(span("invoke_agent coder").attributes["error.type"]).toBe("_OTHER")
  })

  it("counts the first end or fail only", async () => {
    const { telemetry, span, spans, metric } = listening()
    const observed = telemetry.codeRun({ agent: "coder", blocks })
    observed.end(codeResult())
    observed.fail(new Error("late"))
    observed.end(codeResult({ exitCode: 1 }))
    expect(spans()).toHaveLength(1)
    expect(span("run_code").status.code).toBe(SpanStatusCode.UNSET)
    expect((await metric("glovebox.code.runs")).points).toMatchObject([{ value: 1 }])
  })

  it("is suspended, not failed, while an approval is missing", () => {
    const { telemetry, span } = listening()
    const pending = new ApprovalError("APPROVAL_PENDING", "1", "Not yet.")
    telemetry.codeRun({ agent: "coder", blocks }).fail(pending)
    expect(span("run_code")).toMatchObject({
      status: { code: SpanStatusCode.UNSET },
      attributes: { "glovebox.suspended": true },
      events: [],
    })
  })

  it("lets the work's own error through, once", () => {
    context.setGlobalContextManager(new LocalContextManager())
    const { telemetry } = listening()
    let calls = 0
    const work = (): never => {
      calls += 1
      throw new Error("mine")
    }
    expect(() => telemetry.invokeAgent({ agent: "coder" }).run(work)).toThrow("mine")
    expect(calls).toBe(1)
  })
})

it.each([
  [{ captureContents: true }, /did you mean captureContent\?/],
  [{ tracerProvider: {} }, /tracerProvider: is no tracer provider/],
  [{ meterProvider: { getTracer: () => {} } }, /meterProvider: is no meter provider/],
  [{ redact: "all" }, /redact: is no function/],
])("refuses %j", (options, message) => {
  const failure = failureOf(() => new Telemetry(options as TelemetryOptions))
  expect(failure).toMatch(/^OPTION_INVALID: /)
  expect(failure).toMatch(message)
})
