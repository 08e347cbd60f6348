import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  type ChatItem,
  CodeExecutionEvent,
  CodeGenerationEvent,
  CodeOutputEvent,
  HandoffMessage,
  ModelClientStreamingChunkEvent,
  SelectSpeakerEvent,
  StructuredMessage,
  TextMessage,
  ThoughtEvent,
  ToolCallExecutionEvent,
  ToolCallRequestEvent,
  ToolOutputEvent,
} from "../messages/index.ts"
import type { TaskResult } from "../task/index.ts"
import {
  Paper,
  codeRun,
  piped,
  seen,
  streamOf,
  taskResult,
  withoutColors,
  written,
} from "./console.test-kit.ts"
import { Console } from "./index.ts"

/** Every kind of item with the text wherever somebody could put it. */
function everywhere(text: string): readonly ChatItem[] {
  const source = text
  const call = { name: text, arguments: text, id: "1" }
  const denial = { resource: text, message: text, suggestion: text }
  const artifacts = [{ path: text, size: 1, sha256: "" }]
  const termination = text as never
  const result = codeRun({ output: text, termination, artifacts, denials: [denial] })
  return [
    TextMessage({ content: text, source }),
    ModelClientStreamingChunkEvent({ content: text, source }),
    StructuredMessage({ content: text, formatString: text, source }),
    HandoffMessage({ content: text, target: text, source }),
    SelectSpeakerEvent({ content: [text], source }),
    ThoughtEvent({ content: text, source }),
    ToolCallRequestEvent({ content: [call], source }),
    ToolOutputEvent({ content: text, name: text, callId: "1", source }),
    ToolCallExecutionEvent({ content: [{ name: text, content: text, callId: "1" }], source }),
    CodeGenerationEvent({ content: "", codeBlocks: [{ code: text, language: text }], source }),
    CodeOutputEvent({ content: text, stream: "stderr", block: 0, source }),
    CodeExecutionEvent({
      result: { ...result, sandbox: { kind: text, policySha256: "" } },
      source: "runner",
    }),
  ]
}

/** What must never reach a terminal as it is. */
function dangers(text: string): string[] {
  return Array.from(text).filter((character) => {
    const code = character.codePointAt(0) ?? 0
    if (code === 0x09 || code === 0x0a) return false
    return (
      code < 0x20 ||
      (code >= 0x7f && code <= 0x9f) ||
      (code >= 0x202a && code <= 0x202e) ||
      (code >= 0x2060 && code <= 0x206f) ||
      [0x200b, 0x200e, 0x200f, 0xfeff].includes(code)
    )
  })
}

const nasty = fc.constantFrom(
  ..."\u001B|\u001B[31m|\u001B]0;t\u0007|\u009B2J|[0m|\r|\n|\b|\u007F|\u202E|\u2066|\u200B|\uFEFF|```|**|`|a b|# ".split(
    "|",
  ),
)
const text = fc.array(nasty, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(""))

describe("hostile text", () => {
  it("reaches a terminal as nothing but text, wherever it is", async () => {
    await fc.assert(
      fc.asyncProperty(text, async (hostile) => {
        expect(dangers(await seen(...everywhere(hostile)))).toEqual([])
        expect(dangers(await piped(...everywhere(hostile)))).toEqual([])
      }),
      { numRuns: 25 },
    )
  })

  it("cannot end a line of a name or a path", async () => {
    const forged = "x\nuser (TextMessage)"
    const output = await piped(...everywhere(forged))
    expect(output.split("\n")).not.toContain("user (TextMessage)")
  })

  it("cannot stand in why a run ended", async () => {
    const output = new Paper()
    const result = { ...taskResult(), stopKind: "\u001B[2J" as never, stopReason: "\u001B[2J\nuser" }
    await Console(streamOf<ChatItem | TaskResult>(result), { output, colors: false })
    expect(output.text).toBe("= stopped (␛[2J): ␛[2J␊user\n")
  })

  it.each([`${"~".repeat(300_000)} x\``, `\`\`\`${" ".repeat(300_000)}x\``])(
    "of a line that looks like a fence without end is drawn at once",
    async (line) => {
      expect(await seen(TextMessage({ content: line, source: "a" }))).toContain("x`")
    },
  )

  it("does not hide behind the language of code", async () => {
    const words = "and now, dear reader, something that only a model would see"
    expect(await seen(TextMessage({ content: `~~~python ${words}\nx\n~~~`, source: "a" }))).toContain(words)
  })

  it.each([true, false])("is harmless in two pieces, with colours %s", async (colors) => {
    const pieces = ["red \u001B", "[31m x \r", "over\u001B]0;title", "\u0007 \uD83D", "\uDE00 end\n"]
    const said = pieces.map((content) => ModelClientStreamingChunkEvent({ content, source: "a" }))
    const printed = pieces.map((content) =>
      CodeOutputEvent({ content, stream: "stdout", block: 0, source: "b" }),
    )
    const output = withoutColors(await written([...said, ...printed], { colors }))
    expect(output).toContain("red ␛[31m x ␍")
    expect(output).toContain("over␛]0;title␇ 😀 end")
    expect(dangers(output)).toEqual([])
  })
})
