import { abortable } from "./abortable.ts"
import { atMost } from "./at-most.ts"

export interface AbortableStreamOptions {
  readonly signal: AbortSignal
  /** How long a stream may take to end what it does after an abort; then it is left to itself. @default 0 */
  readonly graceMs?: number | undefined
}

/** What a stream yields and returns, or the signal's reason: a stream that does not look at its signal holds nobody up. */
export async function* abortableStream<Item, Result>(
  stream: AsyncGenerator<Item, Result, undefined>,
  { signal, graceMs = 0 }: AbortableStreamOptions,
): AsyncGenerator<Item, Result, undefined> {
  let pending: Promise<unknown> | undefined
  let isOver = false
  try {
    for (;;) {
      const next = stream.next()
      pending = next
      const item = await abortable(next, signal)
      pending = undefined
      isOver = item.done === true
      if (item.done === true) return item.value
      yield item.value
    }
  } finally {
    if (!isOver) {
      const ended = stream.return(undefined as never).catch(() => {})
      // In the middle of something it ends only after that.
      if (pending || signal.aborted) await atMost(ended, graceMs)
      else await ended
    }
  }
}
