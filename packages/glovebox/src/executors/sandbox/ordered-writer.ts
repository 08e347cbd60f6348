import type { Channel } from "./channel.ts"

/** Writes to a channel in order, each piece of work whole, waiting where the channel is full. */
export class OrderedWriter {
  readonly #channel: Channel
  #last = Promise.resolve()
  #unfinished = 0

  constructor(channel: Channel) {
    this.#channel = channel
  }

  /** Writes all chunks; at once when nothing waits and there is room. */
  async write(chunks: Iterable<Uint8Array>): Promise<void> {
    const before = this.#unfinished > 0 ? this.#last : undefined
    this.#unfinished += 1
    this.#last = this.#writeAfter(before, chunks)
    await this.#last
  }

  /** Undefined when everything is written. */
  pending(): Promise<void> | undefined {
    return this.#unfinished > 0 ? this.#last : undefined
  }

  async #writeAfter(before: Promise<void> | undefined, chunks: Iterable<Uint8Array>): Promise<void> {
    try {
      if (before) await before
      for (const chunk of chunks) {
        const room = this.#channel.write(chunk)
        if (room) await room
      }
    } finally {
      this.#unfinished -= 1
    }
  }
}
