import { abortable } from "../../../internal/abortable.ts"
import { AsyncQueue } from "../../../internal/async-queue.ts"
import type { FunctionCall } from "../../../models/index.ts"
import type { ChatItem } from "../../messages/index.ts"
import { pendingOf } from "../../task/index.ts"
import type { CallRecord } from "./call-record.ts"
import { type CallToolContext, callTool } from "./call-tool.ts"

export interface RunCallsOptions extends Omit<CallToolContext, "tell"> {
  readonly isParallel: boolean
  /** Told of each call as it ends. */
  readonly onEnd: (record: CallRecord) => void
  /** Told of each call that waits for approvals, with the ids of the requests; the others go on. */
  readonly onWait: (call: FunctionCall, pending: readonly string[]) => void
}

// What tools tell faster than it is read waits with them.
const MOST_UNREAD = 256

/** Does calls, and yields what they tell meanwhile; whoever leaves it, or is told of a fatal failure, ends the signal. */
export async function* runCalls(
  calls: readonly FunctionCall[],
  { isParallel, onEnd, onWait, ...context }: RunCallsOptions,
): AsyncGenerator<ChatItem, void, undefined> {
  const told = new AsyncQueue<ChatItem>({ limit: MOST_UNREAD })
  const tell = (item: ChatItem): Promise<void> => (told.push(item) ? Promise.resolve() : told.room())
  const work = async (call: FunctionCall): Promise<boolean> => {
    try {
      context.onBegin(call)
      onEnd(await callTool(call, { ...context, tell }))
      return true
    } catch (error) {
      const pending = context.signal.aborted ? undefined : pendingOf(error)
      if (!pending) throw error
      onWait(call, pending)
      return false
    }
  }
  const inOrder = async (): Promise<void> => {
    // Those after it may build on what it does.
    for (const call of calls) if (!(await work(call))) return
  }
  Promise.resolve(isParallel ? Promise.all(calls.map(work)) : inOrder()).then(
    () => told.close(),
    (error: unknown) => told.fail(error),
  )
  try {
    const items = told[Symbol.asyncIterator]()
    for (;;) {
      const next = await abortable(items.next(), context.signal)
      if (next.done === true) return
      yield next.value
    }
  } finally {
    told.close()
  }
}
