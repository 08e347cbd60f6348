import { z } from "zod"
import {
  type ChatItem,
  CodeExecutionEvent,
  CodeGenerationEvent,
  CodeOutputEvent,
  type ToolCallExecutionEvent,
  type ToolCallRequestEvent,
} from "../../chat/messages/index.ts"
import type { TaskResult } from "../../chat/task/index.ts"
import type { CodeBlock } from "../../executors/index.ts"
import type { RecordedRun } from "./recorded-executor.ts"

/** The tool by which models run code. */
export const CODE_TOOL = "execute_code"

const argumentsSchema = z.object({ code: z.string(), language: z.string().default("python") })

type Call = ToolCallRequestEvent["content"][number]

/** A run as people read it: calls of the tool that runs code are shown as code, and their results as what ran. */
export async function* withCode(
  stream: AsyncIterable<ChatItem | TaskResult>,
  runs: () => readonly RecordedRun[],
  hidesCode: (block: CodeBlock) => boolean = () => false,
): AsyncGenerator<ChatItem | TaskResult, void, undefined> {
  let ranBefore = 0
  for await (const item of stream) {
    if (item.type === "ToolCallRequestEvent") {
      ranBefore = runs().length
      yield* requested(item, hidesCode)
    } else if (item.type === "ToolOutputEvent" && item.name === CODE_TOOL) {
      yield CodeOutputEvent({ source: item.source, content: item.content, stream: "stdout", block: 0 })
    } else if (item.type === "ToolCallExecutionEvent") yield* executed(item, runs().slice(ranBefore))
    else yield item
  }
}

function* requested(
  item: ToolCallRequestEvent,
  hidesCode: (block: CodeBlock) => boolean,
): Generator<ChatItem> {
  const { source, content } = item
  const codes = content.map(readCode)
  if (codes.includes(undefined)) {
    yield item
    return
  }
  for (const block of codes)
    if (block && !hidesCode(block)) yield CodeGenerationEvent({ source, content: "", codeBlocks: [block] })
}

function* executed(item: ToolCallExecutionEvent, runs: readonly RecordedRun[]): Generator<ChatItem> {
  const ended = runs.flatMap(({ run }) => run ?? [])
  // A call that was refused has no run, and its result says why.
  if (ended.length !== item.content.length) yield item
  else for (const result of ended) yield CodeExecutionEvent({ source: item.source, result })
}

function readCode({ name, arguments: text }: Call): z.output<typeof argumentsSchema> | undefined {
  if (name !== CODE_TOOL) return undefined
  try {
    return argumentsSchema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
