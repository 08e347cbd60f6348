import type { DisplayEvent } from "../execution-event.ts"
import type { RichOutput } from "../rich-output.ts"
import { readDisplay } from "./read-display.ts"
import type { RichMessage } from "./rich-message.ts"
import { type ShownLimits, ShownOutputs } from "./shown-outputs.ts"

// So many times what a call may show is read of what it changes again and again.
const READ_FACTOR = 16
// Messages of this size are always read: a kernel cannot send them faster than they are read.
const SMALL = 64 * 1024

/** What one call shows, from the messages of the kernel: bounded, and with notes of what was left out. */
export class CallOutputs {
  readonly #shown: ShownOutputs
  readonly #onEvent: (event: DisplayEvent) => void
  #left: number
  #block = 0
  #notes = new Set<string>()
  // The last of those that were too much to be read at once.
  #held: RichMessage | undefined

  constructor(limits: ShownLimits, onEvent: (event: DisplayEvent) => void) {
    this.#shown = new ShownOutputs(limits)
    this.#onEvent = onEvent
    this.#left = limits.maxBytes * READ_FACTOR
  }

  beginBlock(block: number): void {
    this.#block = block
    this.#notes = new Set()
  }

  /** Takes a message, and returns the notes for stderr. */
  take(message: RichMessage): string {
    const { size, content } = message
    if (!content) return this.#note(`an output of ${Math.ceil(size / 1024)} KiB: richOutput.maxBytes is less`)
    if (size > SMALL && size > this.#left) {
      const isFirst = this.#held === undefined
      this.#held = message
      return isFirst ? "" : this.#note("outputs between others: there were too many that are large")
    }
    if (size > SMALL) this.#left -= size
    return this.#show(message.kind, content)
  }

  /** What a block shows at its end. */
  endBlock(block: number): RichOutput[] {
    const held = this.#held
    this.#held = undefined
    if (held?.content) this.#show(held.kind, held.content)
    return this.of(block)
  }

  of(block: number): RichOutput[] {
    return this.#shown.of(block)
  }

  #show(kind: RichMessage["kind"], content: Buffer): string {
    const display = readDisplay(kind, content)
    if (!display)
      return this.#note(`an output that is no ${kind}, or is nested too deep, or has too many values`)
    const { events, trouble } = this.#shown.take(this.#block, display)
    for (const event of events) this.#onEvent(event)
    if (display.action === "clear") return ""
    // Text alone is not left out: it was printed.
    if (trouble !== undefined && display.contents.every(({ type }) => type === "text")) return ""
    if (trouble !== undefined) return this.#note(`an output: ${trouble}`)
    return display.troubles.map((form) => this.#note(`a form of an output, ${form}`)).join("")
  }

  // Once for each block and reason: a loop would fill the output with it.
  #note(what: string): string {
    if (this.#notes.has(what)) return ""
    this.#notes.add(what)
    return `[glovebox: left out ${what}]\n`
  }
}
