import { AsyncQueue } from "../../internal/async-queue.ts"
import type { RequestUsage } from "../../models/index.ts"
import { type ChatItem, type ChatMessage, isChunk } from "../messages/index.ts"
import { NO_USAGE, addUsage } from "../task/index.ts"
import type { ChatThread } from "./chat-thread.ts"
import type { Floor } from "./speaker-policy.ts"

/** A turn that has ended, or that waits for approvals. */
export interface Turn {
  readonly speaker: string
  readonly end: number
  readonly items: readonly ChatItem[]
  readonly said: readonly ChatMessage[]
  readonly untold: RequestUsage
  /** The ids of the requests that it waits for. */
  readonly pending: readonly string[] | undefined
}

/** What one run has under way; nothing of it outlives the run. */
export interface ManagerRun {
  /** The conversation as the policy sees it. */
  readonly floor: Floor
  readonly speaking: Map<string, Promise<Turn>>
  /** Turns as they end or fail. */
  readonly ended: AsyncQueue<Promise<Turn>>
  readonly nextEnded: AsyncIterator<Promise<Turn>, undefined>
  readonly signal: AbortSignal
  /** Said by the team itself, and not seen by the condition yet. */
  unchecked: ChatItem[]
  usage: RequestUsage
  /** What of that no item tells of. */
  untold: RequestUsage
  /** What of it the condition knows of. */
  known: RequestUsage
}

export interface NewRunOptions {
  readonly members: readonly { readonly name: string; readonly description: string }[]
  readonly thread: ChatThread
  readonly emitTeamEvents: boolean
  readonly signal: AbortSignal
  readonly waiting: () => readonly string[]
  readonly turns: () => number
  readonly tell: (item: ChatItem) => Promise<void>
  readonly startOver: () => Promise<void>
  /** What was used before the run was suspended that its condition does not know of. */
  readonly unseen: RequestUsage
}

export function newRun({
  members,
  thread,
  emitTeamEvents,
  signal,
  waiting,
  turns,
  tell,
  startOver,
  unseen,
}: NewRunOptions): ManagerRun {
  const speaking = new Map<string, Promise<Turn>>()
  const addUntold = (usage: RequestUsage | undefined): void => {
    run.usage = addUsage(run.usage, usage)
    run.untold = addUsage(run.untold, usage)
  }
  const add = async (item: ChatItem, said: readonly ChatMessage[]): Promise<void> => {
    thread.add([item], said, null)
    run.usage = addUsage(run.usage, item.modelsUsage)
    run.unchecked.push(item)
    await tell(item)
  }
  // A policy may come back when the run is over: it then adds nothing to the next one.
  const floor: Floor = {
    participants: members.map(({ name, description }) => ({ name, description })),
    get thread() {
      return thread.items
    },
    get speaking() {
      return new Set(speaking.keys())
    },
    get waiting() {
      return waiting()
    },
    get turns() {
      return turns()
    },
    signal,
    emit: async (event) => {
      signal.throwIfAborted()
      if (!emitTeamEvents) addUntold(event.modelsUsage)
      else await (isChunk(event) ? tell(event) : add(event, []))
    },
    say: async (message) => {
      signal.throwIfAborted()
      await add(message, [message])
    },
    addUsage: addUntold,
    startOver,
  }
  const ended = new AsyncQueue<Promise<Turn>>({ limit: Number.POSITIVE_INFINITY })
  const run: ManagerRun = {
    floor,
    speaking,
    ended,
    nextEnded: ended[Symbol.asyncIterator](),
    signal,
    unchecked: [],
    usage: unseen,
    untold: NO_USAGE,
    known: NO_USAGE,
  }
  return run
}
