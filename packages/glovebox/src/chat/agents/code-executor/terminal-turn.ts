import type { CodeExecutor } from "../../../executors/index.ts"
import { type ChatMessage, toModelMessage, toText } from "../../messages/index.ts"
import type { TurnStream } from "../chat-agent.ts"
import type { CodeTurn } from "./code-turn.ts"
import { fencedCode } from "./fenced-code.ts"
import type { FoundCode, SupportedLanguages } from "./supported-languages.ts"

export interface TerminalSetup {
  readonly executor: () => Promise<CodeExecutor>
  readonly languages: SupportedLanguages
}

/** A turn without a model: runs the code in what the others said. */
export async function* terminalTurn(
  turn: CodeTurn,
  { executor, languages }: TerminalSetup,
  messages: readonly ChatMessage[],
): TurnStream {
  const found = languages.find(messages.filter(isWriting).map(toText))
  const { blocks } = found
  if (blocks.length === 0) {
    const reply = turn.reply(nothingFound(found, languages))
    yield reply
    return reply
  }
  const outcome = yield* turn.run(await executor(), {
    content: fencedCode(blocks),
    codeBlocks: blocks,
    retryAttempt: 0,
    messages: messages.map(toModelMessage),
  })
  const reply = outcome.kind === "denied" ? turn.replyDenied(outcome) : turn.reply(outcome.text)
  yield reply
  return reply
}

// Fences in what tools gave back are data from anywhere, and nobody wrote them to be run.
function isWriting({ type }: ChatMessage): boolean {
  return type !== "ToolCallSummaryMessage"
}

function nothingFound({ passedOver }: FoundCode, { names }: SupportedLanguages): string {
  const languages = names.join(" or ")
  if (passedOver.length === 0)
    return `There is no code to run. Write it in a fenced block tagged ${languages}.`
  return `There is no code that can run here: it is in ${passedOver.join(" and ")}. Write it in ${languages}.`
}
