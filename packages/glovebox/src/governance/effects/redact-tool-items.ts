import { GloveboxError } from "../../core/index.ts"
import type { ResultContent, ToolChunk, ToolResult, ToolStreamItem } from "../../tools/index.ts"
import type { Redactor } from "../redaction/redactor.ts"

/** What a call tells and gives, without secrets, also where two pieces of text have one between them. */
export async function* redactToolItems(
  items: AsyncGenerator<ToolStreamItem, ToolResult, undefined>,
  redactor: Redactor,
): AsyncGenerator<ToolStreamItem, ToolResult, undefined> {
  const told = redactor.stream()
  let last: ToolChunk | undefined
  let isDone = false
  try {
    for (;;) {
      // By hand: a result may be returned only, and not told before.
      const next = await items.next()
      isDone = next.done === true
      if (next.done === true || next.value.type === "ToolResult") {
        const rest = told.end()
        if (last && rest !== "") yield withText(last, rest)
        const result = redactResult(next.value as ToolResult | undefined, redactor)
        yield result
        return result
      }
      const item = next.value
      // What an agent behind the tool says went through its own rules.
      if (item.message !== undefined || item.content.type !== "TextResultContent") {
        yield item
        continue
      }
      last = item
      const text = told.push(item.content.content)
      if (text !== "") yield withText(item, text)
    }
  } finally {
    if (!isDone) await items.return(undefined as never)
  }
}

// Of a workbench of anybody's, which may end without one.
function redactResult(result: ToolResult | undefined, redactor: Redactor): ToolResult {
  if (!result) throw new GloveboxError("TOOL_FAILED", "The call ended without a result.")
  return { ...result, result: result.result.map((part) => redactPart(part, redactor)) }
}

function withText(chunk: ToolChunk, content: string): ToolChunk {
  return { ...chunk, content: { type: "TextResultContent", content } }
}

function redactPart(part: ResultContent, redactor: Redactor): ResultContent {
  return part.type === "TextResultContent" ? { ...part, content: redactor.text(part.content) } : part
}
