import { type ChatItem, isChunk } from "../messages/index.ts"

/** What is told in a turn: each thing once, also over the time that it waited for an approval. */
export class ToldTurn {
  /** Without pieces. */
  readonly items: ChatItem[] = []
  readonly #before: ReadonlySet<string>
  readonly #tell: (item: ChatItem) => Promise<void>

  constructor(before: readonly string[], tell: (item: ChatItem) => Promise<void>) {
    this.#before = new Set(before)
    this.#tell = tell
  }

  take(item: ChatItem): Promise<void> {
    if (this.#before.has(item.id)) return Promise.resolve()
    if (!isChunk(item)) this.items.push(item)
    return this.#tell(item)
  }
}
