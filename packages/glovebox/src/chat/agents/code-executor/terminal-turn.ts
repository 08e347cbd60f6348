import type { CodeExecutor } from "../../../executors/index.ts"
import { type ChatMessage, toModelMessage, toText } from "../../messages/index.ts"
import type { TurnStream } from "../chat-agent.ts"
import type { CodeTurn } from "./code-turn.ts"
import { isExecutionReport } from "./execution-report.ts"
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
    const reply = turn.report({ text: nothingFound(found, languages) })
    yield reply
    return reply
  }
  const outcome = yield* turn.run(await executor(), {
    content: fencedCode(blocks),
    codeBlocks: blocks,
    retryAttempt: 0,
    messages: messages.map(toModelMessage),
  })
  const reply = turn.report(outcome)
  yield reply
  return reply
}

// Fences in what tools gave back and programs printed are data from anywhere, and nobody wrote them to be run.
function isWriting(message: ChatMessage): boolean {
  return message.type !== "ToolCallSummaryMessage" && !isExecutionReport(message)
}

function nothingFound({ passedOver }: FoundCode, { names }: SupportedLanguages): string {
  const languages = names.join(" or ")
  if (passedOver.length === 0)
    return `There is no code to run. Write it in a fenced block tagged ${languages}.`
  return `There is no code that can run here: it is in ${passedOver.join(" and ")}. Write it in ${languages}.`
}
