import type { JsonObject } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { atMost } from "../../internal/at-most.ts"
import { type ChatItem, SelectorEvent, isChatMessage, isChunk, toModelText } from "../messages/index.ts"
import { SuspendedError, type TaskResult, hiddenUsage } from "../task/index.ts"
import { type BorrowedRunner, LEFTOVER_MS, type RunnerSource } from "./runner-source.ts"
import type { SaidText, SuspendedCall, SuspendedCalls, TaskCall } from "./suspended-calls.ts"

export interface RunTaskOptions {
  readonly signal: AbortSignal
  /** Only the last message is the result. */
  readonly isLastOnly: boolean
  readonly calls: SuspendedCalls
}

/**
 * Has a task done: yields what is said and done for it, and returns what the caller's model is told.
 *
 * @throws SuspendedError when it waits for approvals; the same call goes on with it
 */
export async function* runTask(
  source: RunnerSource,
  call: TaskCall,
  { signal, isLastOnly, calls }: RunTaskOptions,
): AsyncGenerator<ChatItem, string, undefined> {
  const earlier = calls.find(call)
  const borrowed = await source.borrow(signal, earlier?.state)
  const { runner } = borrowed
  const stream = runner.runStream(earlier ? undefined : call.task, { signal, outputTaskMessages: false })
  const items: ChatItem[] = []
  try {
    const [other] = source.isKept ? calls.others(call) : []
    // What remembers all calls can do nothing else before the one that waits is done.
    if (other) throw new SuspendedError(runner.name, other.pending)
    const before = source.isKept ? await stateBefore(borrowed, earlier, { signal, calls }) : undefined
    for (;;) {
      const next = await abortable(
        borrowed.within(() => stream.next()),
        signal,
      )
      if (next.done === true) {
        yield* hiddenCalls(runner.name, next.value, items)
        const said = [...(earlier?.said ?? []), ...saidIn(items)]
        if (next.value.stopKind !== "suspended") {
          calls.forget(call)
          return resultText(runner.name, said, isLastOnly)
        }
        const { pending = [] } = next.value
        const state = before ?? (await abortable(borrowed.saveState(), signal))
        // Whoever was cancelled does not come again.
        signal.throwIfAborted()
        calls.keep({ ...call, said, pending, state })
        throw new SuspendedError(runner.name, pending)
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

/** What one that is kept goes back to if this call waits, and then does not come again. */
async function stateBefore(
  borrowed: BorrowedRunner,
  earlier: SuspendedCall | undefined,
  { signal, calls }: Pick<RunTaskOptions, "signal" | "calls">,
): Promise<JsonObject> {
  if (calls.goBackTo) {
    await abortable(borrowed.loadState(calls.goBackTo), signal)
    calls.goBackTo = undefined
  }
  return earlier?.state ?? abortable(borrowed.saveState(), signal)
}

// The calls of a team itself, such as those that chose speakers, are told of nowhere else.
function* hiddenCalls(
  source: string,
  { usage }: TaskResult,
  items: readonly ChatItem[],
): Generator<ChatItem, void, undefined> {
  const modelsUsage = hiddenUsage(usage, items)
  if (modelsUsage.promptTokens + modelsUsage.completionTokens === 0) return
  yield SelectorEvent({ content: "", source, modelsUsage })
}

/** Gives the runner back when its run has come to its end; one that does not look at its signal is not waited for long. */
async function endRun(
  stream: AsyncGenerator<unknown, unknown, undefined>,
  borrowed: BorrowedRunner,
): Promise<void> {
  await atMost(stream.return(undefined), LEFTOVER_MS)
  await borrowed.giveBack()
}

function saidIn(items: readonly ChatItem[]): readonly SaidText[] {
  return items
    .filter(isChatMessage)
    .map((message) => ({ source: message.source, text: toModelText(message) }))
}

function resultText(name: string, said: readonly SaidText[], isLastOnly: boolean): string {
  const last = said.at(-1)
  if (!last) return `${name} said nothing.`
  if (isLastOnly) return last.text
  return said
    .filter(({ source }) => source !== "user")
    .map(({ source, text }) => `${source}: ${text}`)
    .join("\n\n")
}
