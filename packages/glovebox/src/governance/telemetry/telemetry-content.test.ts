import { describe, expect, it } from "vitest"
import { codeResult } from "../../executors/code-result.test-kit.ts"
import type { LLMMessage } from "../../models/index.ts"
import { textContent } from "../../tools/tool-result.ts"
import type { Telemetry } from "./index.ts"
import { allTextOf, answer, approvalRequest, listening } from "./telemetry.test-kit.ts"

const CANARY = "do not record this"
const SECRET = "AKIAIOSFODNN7EXAMPLE"
const said = `${CANARY} ${SECRET}`
const call = { id: "call_1", name: "add", arguments: JSON.stringify({ text: said }) }

const messages: readonly LLMMessage[] = [
  { type: "SystemMessage", content: said },
  {
    type: "UserMessage",
    source: "user",
    content: [said, { type: "Image", mediaType: "image/png", data: "aGlkZGVu" }],
  },
  { type: "AssistantMessage", source: "coder", content: [call], thought: said },
  { type: "FunctionExecutionResultMessage", content: [{ callId: "call_1", name: "add", content: said }] },
]

/** Everything there is to observe, with the same words in every place that holds content. */
function everything(telemetry: Telemetry): void {
  const agent = "coder"
  telemetry.modelCall({ agent, model: "m", messages }).end(answer({ content: said, thought: said }))
  telemetry.modelCall({ agent, model: "m", messages }).end(answer({ content: [call] }))
  const result = { type: "ToolResult", name: "add", result: [textContent(said)] } as const
  telemetry.toolCall({ agent, tool: "add", arguments: { text: said } }).end({ ...result, isError: false })
  // Models make up names, too.
  telemetry.toolCall({ agent, tool: said, callId: said, arguments: said }).end({ ...result, isError: true })
  const blocks = [
    { code: `print("${said}")`, language: "python" },
    { code: said, language: said },
  ]
  telemetry.codeRun({ agent, blocks }).end(codeResult({ output: said, stdout: said, stderr: said }))
  telemetry.approval(approvalRequest({ code: said })).end({ decision: "approved" })
}

describe("by default", () => {
  it("keeps what was said, called, run or printed out of spans", () => {
    const { telemetry, spans } = listening()
    everything(telemetry)
    expect(spans()).toHaveLength(6)
    expect(allTextOf(spans())).not.toContain(CANARY)
    expect(allTextOf(spans())).not.toContain(SECRET)
    expect(spans()[3]).toMatchObject({
      name: "execute_tool _OTHER",
      attributes: { "gen_ai.tool.call.id": "_OTHER" },
    })
    expect(spans()[4]?.attributes).toMatchObject({ "glovebox.code.languages": ["python", "_OTHER"] })
  })

  it("keeps it out of metrics", async () => {
    const { telemetry, metric } = listening()
    everything(telemetry)
    telemetry.denied({ agent: "coder", kind: "access", name: said })
    const names = ["glovebox.tool.calls", "glovebox.code.runs", "glovebox.denials", "glovebox.approvals"]
    const told = JSON.stringify(await Promise.all(names.map((name) => metric(name))))
    expect(told).toContain("_OTHER")
    expect(told).not.toContain(CANARY)
  })
})

describe("with captureContent", () => {
  it("keeps it in the spans, without secrets", () => {
    const { telemetry, spans } = listening({ captureContent: true })
    everything(telemetry)
    const redacted = `${CANARY} [redacted:aws-access-key]`
    const [first, second, tool, , code] = spans().map(({ attributes }) => attributes)
    expect(JSON.parse(String(first?.["gen_ai.input.messages"]))).toEqual([
      { role: "system", parts: [{ type: "text", content: redacted }] },
      {
        role: "user",
        name: "user",
        parts: [
          { type: "text", content: redacted },
          { type: "image", mime_type: "image/png" },
        ],
      },
      {
        role: "assistant",
        name: "coder",
        parts: [
          { type: "reasoning", content: redacted },
          { type: "tool_call", id: "call_1", name: "add", arguments: `{"text":"${redacted}"}` },
        ],
      },
      { role: "tool", parts: [{ type: "tool_call_response", id: "call_1", response: redacted }] },
    ])
    expect(JSON.parse(String(first?.["gen_ai.output.messages"]))).toEqual([
      {
        role: "assistant",
        parts: [
          { type: "reasoning", content: redacted },
          { type: "text", content: redacted },
        ],
        finish_reason: "stop",
      },
    ])
    expect(second?.["gen_ai.output.messages"]).toContain('"tool_call"')
    expect(tool).toMatchObject({
      "gen_ai.tool.call.arguments": `{"text":"${redacted}"}`,
      "gen_ai.tool.call.result": redacted,
    })
    expect(code?.["glovebox.code.content"]).toContain(redacted)
    expect(code?.["glovebox.code.output"]).toBe(redacted)
    expect(allTextOf(spans())).not.toMatch(/AKIA|aGlkZGVu/)
  })

  it("goes through the redaction that it was given, and keeps nothing when that fails", () => {
    const own = listening({ captureContent: true, redact: (text) => text.replaceAll(CANARY, "***") })
    everything(own.telemetry)
    expect(allTextOf(own.spans())).toContain("***")
    expect(allTextOf(own.spans())).not.toContain(CANARY)

    const broken = listening({
      captureContent: true,
      redact: () => {
        throw new Error("broken")
      },
    })
    everything(broken.telemetry)
    broken.telemetry.invokeAgent({ agent: "coder" }).fail(new Error(CANARY))
    expect(broken.spans()).toHaveLength(7)
    expect(allTextOf(broken.spans())).not.toContain(CANARY)
    expect(broken.span("invoke_agent").attributes).toEqual({ "error.type": "_OTHER" })
  })

  it("keeps secrets out of names too, which models and servers make up", async () => {
    const { telemetry, spans, metric } = listening({ captureContent: true })
    const agent = "coder"
    const made = { id: SECRET, name: SECRET, arguments: "{}" }
    const asked: readonly LLMMessage[] = [{ type: "AssistantMessage", source: SECRET, content: [made] }]
    telemetry.modelCall({ agent, model: SECRET, messages: asked }).end(answer({ content: [made] }))
    const failed = Object.assign(new Error("no"), { code: SECRET })
    telemetry.toolCall({ agent, tool: SECRET, callId: SECRET }).fail(failed)
    telemetry.codeRun({ agent, blocks: [{ code: "1", language: SECRET }] }).fail(failed)
    telemetry.denied({ agent, kind: "access", name: SECRET })
    expect(spans()).toHaveLength(3)
    expect(allTextOf(spans())).not.toContain(SECRET)
    const names = ["gen_ai.client.operation.duration", "glovebox.tool.calls", "glovebox.denials"]
    const told = await Promise.all(names.map((name) => metric(name)))
    expect(told.map(({ points }) => points.length)).toEqual([1, 1, 1])
    expect(JSON.stringify(told)).not.toContain(SECRET)
  })
})
