import { abortable } from "../../internal/abortable.ts"
import { atMost } from "../../internal/at-most.ts"
import {
  type ChatItem,
  type ChatMessage,
  SelectorEvent,
  isChatMessage,
  isChunk,
  toModelText,
} from "../messages/index.ts"
import { hiddenUsage } from "../task/index.ts"
import { type BorrowedRunner, LEFTOVER_MS, type RunnerSource } from "./runner-source.ts"

export interface RunTaskOptions {
  readonly signal: AbortSignal
  /** Only the last message is the result. */
  readonly isLastOnly: boolean
}

/** Has a task done: yields what is said and done for it, and returns what the caller's model is told. */
export async function* runTask(
  source: RunnerSource,
  task: string,
  { signal, isLastOnly }: RunTaskOptions,
): AsyncGenerator<ChatItem, string, undefined> {
  const borrowed = await source.borrow(signal)
  const { runner } = borrowed
  const stream = runner.runStream(task, { signal, outputTaskMessages: false })
  const items: ChatItem[] = []
  try {
    for (;;) {
      const next = await abortable(
        borrowed.within(() => stream.next()),
        signal,
      )
      if (next.done === true) {
        const modelsUsage = hiddenUsage(next.value.usage, items)
        // The calls of a team itself, such as those that chose speakers, are told of nowhere else.
        if (modelsUsage.promptTokens + modelsUsage.completionTokens > 0) {
          yield SelectorEvent({ content: "", source: runner.name, modelsUsage })
        }
        return resultText(runner.name, items.filter(isChatMessage), isLastOnly)
      }
      if (next.value.type === "TaskResult") continue
      if (!isChunk(next.value)) items.push(next.value)
      yield next.value
    }
  } finally {
    const end = endRun(stream, borrowed)
    // Whoever was cancelled has nothing to wait for.
    if (signal.aborted) end.catch(() => {})
    else await end
  }
}

/** Gives the runner back when its run has come to its end; one that does not look at its signal is not waited for long. */
async function endRun(
  stream: AsyncGenerator<unknown, unknown, undefined>,
  borrowed: BorrowedRunner,
): Promise<void> {
  await atMost(stream.return(undefined), LEFTOVER_MS)
  await borrowed.giveBack()
}

function resultText(name: string, messages: readonly ChatMessage[], isLastOnly: boolean): string {
  const last = messages.at(-1)
  if (!last) return `${name} said nothing.`
  if (isLastOnly) return toModelText(last)
  return messages
    .filter(({ source }) => source !== "user")
    .map((message) => `${message.source}: ${toModelText(message)}`)
    .join("\n\n")
}
