import type { FunctionCall, LLMMessage } from "../models/index.ts"

/**
 * A conversation cut where it may be cut: nowhere between a call and the last of its results, which together are a
 * unit; each other message is one of its own. Results whose call is not there are left out: no model takes them.
 */
export class MessageUnits {
  readonly #messages: LLMMessage[] = []
  /** Where each unit begins: it goes on to the next one, with what was said between a call and its results. */
  readonly #starts: number[] = []
  /** The units that are system messages. */
  readonly #system: number[] = []
  readonly #placeOfCall = new Map<string, number>()

  /** How many messages there are. */
  get length(): number {
    return this.#messages.length
  }

  add(message: LLMMessage): void {
    const place = this.#messages.length
    if (message.type === "FunctionExecutionResultMessage") {
      const places = message.content.flatMap(({ callId }) => this.#placeOfCall.get(callId) ?? [])
      if (places.length === 0) return
      this.#joinFrom(Math.min(...places))
    } else {
      if (message.type === "SystemMessage") this.#system.push(this.#starts.length)
      this.#starts.push(place)
      for (const { id } of callsOf(message)) this.#placeOfCall.set(id, place)
    }
    this.#messages.push(message)
  }

  /** How many messages the first units have, as many as have at most so many together. */
  headLength(limit: number): number {
    let count = 0
    for (let unit = 0; unit < this.#starts.length; unit += 1) {
      const end = this.#starts[unit + 1] ?? this.#messages.length
      if (end > limit) break
      count = end
    }
    return count
  }

  /** Where the last units begin that have at most so many messages together; in any case the last one is among them. */
  tailStart(limit: number, from = 0): number {
    let start = this.#starts.at(-1) ?? 0
    for (let unit = this.#starts.length - 1; unit >= 0; unit -= 1) {
      const earlier = this.#starts[unit] ?? 0
      if (earlier < from || this.#messages.length - earlier > limit) break
      start = earlier
    }
    return start
  }

  slice(start: number, end?: number): LLMMessage[] {
    return this.#messages.slice(start, end)
  }

  /** As they are now; it stays so whatever is added. */
  outline(): UnitsOutline {
    // Messages are only ever added behind the others; where units begin may change.
    const { length } = this.#messages
    return { messages: this.#messages, starts: [...this.#starts, length], system: new Set(this.#system) }
  }

  #joinFrom(place: number): void {
    // The last unit that begins at or before it; it is near the end, where results come soon after calls.
    while ((this.#starts.at(-1) ?? 0) > place) this.#starts.pop()
    while ((this.#system.at(-1) ?? -1) >= this.#starts.length) this.#system.pop()
  }
}

/** Units that no longer change. */
export interface UnitsOutline {
  readonly messages: readonly LLMMessage[]
  /** Where each begins, and where the last one ends. */
  readonly starts: readonly number[]
  /** Those that are system messages. */
  readonly system: ReadonlySet<number>
}

function callsOf(message: LLMMessage): readonly FunctionCall[] {
  return message.type === "AssistantMessage" && typeof message.content !== "string" ? message.content : []
}
