import { abortable } from "../../../internal/abortable.ts"
import { AsyncQueue } from "../../../internal/async-queue.ts"
import type { FunctionCall } from "../../../models/index.ts"
import type { ChatItem } from "../../messages/index.ts"
import type { CallRecord } from "./call-record.ts"
import { type CallToolContext, callTool } from "./call-tool.ts"

export interface RunCallsOptions extends Omit<CallToolContext, "tell"> {
  readonly isParallel: boolean
  /** Told of each call as it ends. */
  readonly onEnd: (record: CallRecord) => void
}

// What tools tell faster than it is read waits with them.
const MOST_UNREAD = 256

/** Does calls, and yields what they tell meanwhile; whoever leaves it, or is told of a fatal failure, ends the signal. */
export async function* runCalls(
  calls: readonly FunctionCall[],
  { isParallel, onEnd, ...context }: RunCallsOptions,
): AsyncGenerator<ChatItem, void, undefined> {
  const told = new AsyncQueue<ChatItem>({ limit: MOST_UNREAD })
  const tell = (item: ChatItem): Promise<void> => (told.push(item) ? Promise.resolve() : told.room())
  const work = async (call: FunctionCall): Promise<void> => onEnd(await callTool(call, { ...context, tell }))
  const inOrder = async (): Promise<void> => {
    for (const call of calls) await work(call)
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
