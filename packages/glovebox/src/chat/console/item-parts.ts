import type { Image } from "../../models/index.ts"
import { type ChatItem, type CodeGenerationEvent, type CodeRun, toText } from "../messages/index.ts"
import { humanBytes, humanDuration } from "./human-amounts.ts"
import { shortenText } from "./shorten-text.ts"

/** How a line is marked. */
export type Mark =
  | "thought"
  | "next"
  | "note"
  | "call"
  | "result"
  | "failure"
  | "stdout"
  | "stderr"
  | "success"
  | "crash"
  | "file"
  | "denied"

export type Part =
  | { readonly kind: "markdown" | Mark; readonly text: string }
  | { readonly kind: "image"; readonly image: Image }

const ARGUMENTS = { lines: 1, characters: 200 }
const RESULT = { lines: 8, characters: 800 }
const OUTPUT = { lines: 40, characters: 8000 }

/** What there is to see of a message or an event that is told whole. */
export function partsOf(item: ChatItem, isOutputShown: boolean): readonly Part[] {
  switch (item.type) {
    case "ToolCallRequestEvent":
      return item.content.map((call) => ({
        kind: "call",
        text: `${call.name}(${shortenText(oneLine(call.arguments), ARGUMENTS)})`,
      }))
    case "ToolCallExecutionEvent":
      return item.content.map(({ name, content, isError }) => ({
        kind: isError === true ? "failure" : "result",
        text: `${name}${isError === true ? " failed" : ""}: ${shortenText(content, RESULT)}`,
      }))
    case "CodeGenerationEvent":
      return [{ kind: "markdown", text: codeText(item) }]
    case "CodeExecutionEvent":
      return runParts(item.result, isOutputShown)
    case "MultiModalMessage":
      return item.content.map((part) =>
        typeof part === "string" ? { kind: "markdown", text: part } : { kind: "image", image: part },
      )
    case "ThoughtEvent":
      return [{ kind: "thought", text: item.content }]
    case "MemoryQueryEvent":
    case "SelectorEvent":
      return [{ kind: "note", text: shortenText(toText(item), RESULT) }]
    case "SelectSpeakerEvent":
      return [{ kind: "next", text: item.content.join(", ") }]
    case "HandoffMessage":
      return [
        { kind: "markdown", text: item.content },
        { kind: "next", text: item.target },
      ]
    case "UserInputRequestedEvent":
      return []
    case "ModelClientStreamingChunkEvent":
    case "ToolOutputEvent":
    case "CodeOutputEvent":
    case "TextMessage":
    case "StopMessage":
    case "ToolCallSummaryMessage":
    case "StructuredMessage":
    // And types of one's own.
    default:
      return item.metadata["approval"] === "denied"
        ? [{ kind: "denied", text: toText(item) }]
        : [{ kind: "markdown", text: toText(item) }]
  }
}

function oneLine(json: string): string {
  return json.trim().replace(/\s*\n\s*/g, " ")
}

/** What the writer said, and the code that it does not show. */
function codeText({ content, codeBlocks }: CodeGenerationEvent): string {
  const said = content.replace(/\r\n/g, "\n")
  const missing = codeBlocks.filter(({ code }) => !said.includes(code.replace(/\r\n/g, "\n").trim()))
  return [...(said.trim() === "" ? [] : [said]), ...missing.map(fenced)].join("\n\n")
}

function fenced({ code, language }: CodeGenerationEvent["codeBlocks"][number]): string {
  const longest = Math.max(2, ...(code.match(/`+/g) ?? []).map(({ length }) => length))
  const fence = "`".repeat(longest + 1)
  return `${fence}${language.replace(/[`\s]+/g, " ").trim()}\n${code.replace(/\n$/, "")}\n${fence}`
}

function runParts(run: CodeRun, isOutputShown: boolean): readonly Part[] {
  const isOutput = !isOutputShown && run.output.trim() !== ""
  return [
    ...(isOutput ? [{ kind: "stdout", text: shortenText(run.output, OUTPUT) } as const] : []),
    ...(run.truncated ? [{ kind: "note", text: "the middle of the output was left out" } as const] : []),
    ...run.denials.map(
      ({ message, suggestion }) => ({ kind: "denied", text: `${message} ${suggestion}`.trim() }) as const,
    ),
    ...run.artifacts.map(
      ({ path, size }) => ({ kind: "file", text: `${path} (${humanBytes(size)})` }) as const,
    ),
    {
      kind: run.exitCode === 0 ? "success" : "crash",
      text: `${endOf(run)} after ${humanDuration(run.durationMs)} in ${run.sandbox.kind}`,
    },
  ]
}

function endOf({ termination, exitCode }: CodeRun): string {
  switch (termination) {
    case "exit":
      return `exit ${exitCode}`
    case "signal":
      return `ended by a signal (exit ${exitCode})`
    case "timeout":
      return `out of time (exit ${exitCode})`
    case "oom":
      return `out of memory (exit ${exitCode})`
    case "process-limit":
      return `too many processes (exit ${exitCode})`
    case "disk-full":
      return `disk full (exit ${exitCode})`
    case "output-limit":
      return `too much output (exit ${exitCode})`
    default:
      // Read from data, it may be of a later release.
      return `${String(termination satisfies never)} (exit ${exitCode})`
  }
}
