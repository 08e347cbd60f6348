import type { ChatItem } from "../messages/index.ts"
import type { TaskResult } from "./task-result.ts"
import type { Task } from "./task.ts"

export interface RunOptions {
  /** Ends the run at once; it then rejects with the signal's reason, and the next run works. */
  readonly signal?: AbortSignal | undefined
  /** False leaves the task's own messages out of stream and result. @default true */
  readonly outputTaskMessages?: boolean | undefined
}

/** What a run yields: what is said and done, as it happens, and the result as the last item. */
export type RunStream = AsyncGenerator<ChatItem | TaskResult, TaskResult, undefined>

/** An agent or a team: it takes a task, and keeps what was said for the next one. */
export interface TaskRunner {
  readonly name: string
  readonly description: string
  run(task?: Task, options?: RunOptions): Promise<TaskResult>
  /** Leaving the loop ends the run. */
  runStream(task?: Task, options?: RunOptions): RunStream
}

/** Reads a stream to its end, and gives what it returns. */
export async function drain<Item, Result>(
  stream: AsyncGenerator<Item, Result, undefined>,
  take?: (item: Item) => Promise<void>,
): Promise<Result> {
  let isDone = false
  try {
    for (;;) {
      const next = await stream.next()
      isDone = next.done === true
      if (next.done === true) return next.value
      await take?.(next.value)
    }
  } finally {
    if (!isDone) await stream.return(undefined as never)
  }
}
