import type { ResultContent, ToolChunk, ToolResult, ToolStreamItem } from "../../tools/index.ts"
import type { Redactor } from "../redaction/redactor.ts"

/** What a call tells and gives, without secrets, also where two pieces of text have one between them. */
export async function* redactToolItems(
  items: AsyncGenerator<ToolStreamItem, ToolResult, undefined>,
  redactor: Redactor,
): AsyncGenerator<ToolStreamItem, ToolResult, undefined> {
  const told = redactor.stream()
  let last: ToolChunk | undefined
  for await (const item of items) {
    if (item.type === "ToolResult") {
      const rest = told.end()
      if (last && rest !== "") yield withText(last, rest)
      const result = { ...item, result: item.result.map((part) => redactPart(part, redactor)) }
      yield result
      return result
    }
    // What an agent behind the tool says went through its own rules.
    if (item.message !== undefined || item.content.type !== "TextResultContent") {
      yield item
      continue
    }
    last = item
    const text = told.push(item.content.content)
    if (text !== "") yield withText(item, text)
  }
  throw new Error("The call ended without a result.")
}

function withText(chunk: ToolChunk, content: string): ToolChunk {
  return { ...chunk, content: { type: "TextResultContent", content } }
}

function redactPart(part: ResultContent, redactor: Redactor): ResultContent {
  return part.type === "TextResultContent" ? { ...part, content: redactor.text(part.content) } : part
}
