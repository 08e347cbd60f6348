import { type ChatItem, type ChatMessage, HandoffMessage } from "../messages/index.ts"

interface Said {
  readonly message: ChatMessage
  /** The participant in whose turn it was said; null for the task and the team itself. */
  readonly by: string | null
}

export interface ThreadState {
  readonly thread: readonly unknown[]
  readonly said: readonly { readonly message: unknown; readonly by: string | null }[]
  readonly told: Readonly<Record<string, number>>
  readonly asked: readonly string[]
  readonly unheard: readonly string[]
  /** Where the news of a turn end that waits for an approval, by participant. */
  readonly held: Readonly<Record<string, number>>
}

interface News {
  readonly messages: readonly ChatMessage[]
  readonly end: number
  readonly isRetry: boolean
}

// Fewer that everybody has heard are not worth a move of the others.
const TRIM_AT = 512

/** All that was said and done, and how much of it each participant has heard. */
export class ChatThread {
  #items: ChatItem[] = []
  #said: Said[] = []
  /** How many were heard by all and dropped from `#said`. */
  #dropped = 0
  readonly #told: Map<string, number>
  /** The ids of the task of a run that has not come to an end. */
  #asked = new Set<string>()
  /** Whose turn began, and was not heard. */
  #unheard = new Set<string>()
  /** Where the news of turns end that wait for an approval. */
  readonly #held = new Map<string, number>()

  constructor(participants: readonly string[]) {
    this.#told = new Map(participants.map((name) => [name, 0]))
  }

  get items(): readonly ChatItem[] {
    return this.#items
  }

  /** Adds what happened, and what of it the others are to hear. */
  add(items: readonly ChatItem[], said: readonly ChatMessage[], by: string | null): void {
    for (const item of items) this.#items.push(item)
    for (const message of said) this.#said.push({ message, by })
  }

  /** Adds a task; what a run was given that did not come to its end, and is given again, is there already. */
  ask(task: readonly ChatMessage[]): void {
    const fresh = this.unasked(task)
    for (const { id } of fresh) this.#asked.add(id)
    this.add(fresh, fresh, null)
  }

  /** What of a task was not given yet to a run that has not come to its end. */
  unasked(task: readonly ChatMessage[]): readonly ChatMessage[] {
    return task.filter(({ id }) => !this.#asked.has(id))
  }

  /** A run came to its end. */
  answered(): void {
    this.#asked.clear()
  }

  /** Begins a turn: what is new to the participant, where that ends, and whether it was told before. */
  newsFor(name: string): News {
    const isRetry = this.#unheard.has(name)
    this.#unheard.add(name)
    const end = this.#held.get(name) ?? this.#dropped + this.#said.length
    const messages: ChatMessage[] = []
    for (let at = (this.#told.get(name) ?? 0) - this.#dropped; at < end - this.#dropped; at += 1) {
      const said = this.#said[at]
      if (said && said.by !== name) messages.push(asToldTo(name, said.message))
    }
    return { messages, end, isRetry }
  }

  /** A turn waits for an approval: when it goes on, its news are the same. */
  hold(name: string, end: number): void {
    this.#held.set(name, end)
  }

  /** A turn was heard: the participant knows everything up to there. */
  heard(name: string, end: number): void {
    this.#unheard.delete(name)
    this.#held.delete(name)
    this.#told.set(name, end)
    const least = Math.min(...this.#told.values()) - this.#dropped
    if (least < TRIM_AT) return
    this.#said = this.#said.slice(least)
    this.#dropped += least
  }

  clear(): void {
    this.#items = []
    this.#said = []
    this.#dropped = 0
    this.#asked.clear()
    this.#unheard.clear()
    this.#held.clear()
    for (const name of this.#told.keys()) this.#told.set(name, 0)
  }

  save(): ThreadState {
    const kept = (ends: ReadonlyMap<string, number>): Readonly<Record<string, number>> =>
      Object.fromEntries([...ends].map(([name, end]) => [name, end - this.#dropped]))
    return {
      thread: [...this.#items],
      said: [...this.#said],
      told: kept(this.#told),
      asked: [...this.#asked],
      unheard: [...this.#unheard],
      held: kept(this.#held),
    }
  }

  load(
    items: readonly ChatItem[],
    said: readonly Said[],
    { told, asked, unheard, held }: Omit<ThreadState, "thread" | "said">,
  ): void {
    this.#items = [...items]
    this.#said = [...said]
    this.#dropped = 0
    this.#asked = new Set(asked)
    this.#unheard = new Set(unheard)
    this.#held.clear()
    for (const [name, end] of Object.entries(held)) this.#held.set(name, end)
    for (const name of this.#told.keys()) this.#told.set(name, told[name] ?? 0)
  }
}

// What was said to a model about a handoff concerns the one who goes on; to the others it would be tool calls of a stranger.
function asToldTo(name: string, message: ChatMessage): ChatMessage {
  if (!HandoffMessage.is(message) || message.target === name || message.context.length === 0) return message
  return HandoffMessage({ ...message, context: [] })
}
