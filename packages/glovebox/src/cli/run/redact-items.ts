import type { ChatItem } from "../../chat/messages/index.ts"
import type { TaskResult } from "../../chat/task/index.ts"
import { rewriteMessage } from "../../governance/filter/rewrite-text.ts"
import type { Redactor } from "../../governance/index.ts"

/** What happens in a run, for whoever draws it: no text has a secret in it, nor have two pieces one between them. */
export async function* redactItems(
  items: AsyncIterable<ChatItem | TaskResult>,
  redactor: Redactor,
): AsyncGenerator<ChatItem | TaskResult, void, undefined> {
  const words = redactor.stream()
  let last: ChatItem | undefined
  for await (const item of items) {
    if (item.type === "ModelClientStreamingChunkEvent") {
      last = item
      const content = words.push(item.content)
      if (content !== "") yield withContent(item, content)
      continue
    }
    const rest = words.end()
    if (last && rest !== "") yield withContent(last, rest)
    last = undefined
    // A result is not drawn: what is told of it is taken from it, and is clean when it is printed.
    yield item.type === "TaskResult" ? item : rewritten(item, (text) => redactor.text(text))
  }
}

function withContent(item: ChatItem, content: string): ChatItem {
  return rewritten(item, (text, path) => (path === "content" ? content : text))
}

function rewritten(item: ChatItem, rewrite: (text: string, path: string) => string): ChatItem {
  // Made anew by its own type, if at all.
  return rewriteMessage(item, rewrite) as ChatItem
}
