import { GloveboxError } from "../../../core/index.ts"
import type { CodeExecutor } from "../../../executors/index.ts"
import { type ChatMessage, toModelMessage, toText } from "../../messages/index.ts"
import type { Response } from "../../task/index.ts"
import type { TurnStream } from "../chat-agent.ts"
import type { CodeTurn } from "./code-turn.ts"
import { isExecutionReport } from "./execution-report.ts"
import { fencedCode } from "./fenced-code.ts"
import type { FoundCode, SupportedLanguages } from "./supported-languages.ts"
import type { WaitingCode, WaitingState } from "./waiting-code.ts"

export interface TerminalSetup {
  readonly executor: () => Promise<CodeExecutor>
  readonly languages: SupportedLanguages
  readonly waiting: WaitingCode
}

const LEFT_OUT = "There was other code meanwhile, which did not run. Write it again."

/** A turn without a model: runs the code in what the others said, or code of an earlier turn that waited. */
export async function* terminalTurn(
  turn: CodeTurn,
  { executor, languages, waiting }: TerminalSetup,
  messages: readonly ChatMessage[],
): TurnStream {
  const before = waiting.code
  // A team that goes on gives again what it gave before.
  const news = messages.filter(({ id }) => before?.messages.includes(id) !== true)
  const found = languages.find(news.filter(isWriting).map(toText))
  const { codeBlocks, retryAttempt } = before ?? { codeBlocks: [...found.blocks], retryAttempt: 0 }
  if (codeBlocks.length === 0) return yield* answer(turn.report({ text: nothingFound(found, languages) }))
  const place = await executor()
  if (!before) yield turn.generated({ content: fencedCode(codeBlocks), codeBlocks, retryAttempt })
  let keeps: WaitingState | undefined
  let hasStarted = false
  try {
    const heard = messages.map(toModelMessage)
    const onStart = (): void => {
      hasStarted = true
    }
    const outcome = yield* turn.run(place, { codeBlocks, retryAttempt, messages: heard, onStart })
    const isLeftOut = before !== undefined && found.blocks.length > 0
    const text = isLeftOut ? `${outcome.text}\n\n${LEFT_OUT}` : outcome.text
    return yield* answer(turn.report({ ...outcome, text }))
  } catch (error) {
    if (GloveboxError.is(error, "APPROVAL_PENDING")) {
      keeps = before ?? { codeBlocks, retryAttempt, messages: messages.map(({ id }) => id) }
    } else if (!hasStarted) keeps = before
    throw error
  } finally {
    waiting.code = keeps
  }
}

async function* answer(reply: Response): TurnStream {
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
