import type { DisplayEvent } from "../execution-event.ts"
import type { RichContent, RichOutput } from "../rich-output.ts"
import { sizeOf } from "./inert-file.ts"
import type { Display } from "./read-display.ts"

interface Shown {
  readonly display: number
  readonly displayId: string | undefined
  /** In which it was shown first. */
  readonly block: number
  contents: readonly RichContent[]
  bytes: number
}

export interface ShownLimits {
  readonly maxBytes: number
  readonly maxCount: number
}

/** What became of something that was to be shown. */
export interface Taken {
  readonly events: readonly DisplayEvent[]
  /** Why it was left out. */
  readonly trouble?: string
}

/** What the blocks of one call have shown, with later changes in their places. */
export class ShownOutputs {
  readonly #limits: ShownLimits
  readonly #clearsNext = new Set<number>()
  #shown: Shown[] = []
  #count = 0
  #bytes = 0

  constructor(limits: ShownLimits) {
    this.#limits = limits
  }

  /** Takes it over and tells what happened. */
  take(block: number, display: Display): Taken {
    if (display.action === "clear") {
      if (!display.waits) return { events: this.#clear(block) }
      this.#clearsNext.add(block)
      return { events: [] }
    }
    const { action, displayId, contents } = display
    const isUpdate = action === "update"
    if (isUpdate && displayId === undefined) return { events: [], trouble: "it names no display to change" }
    // One that another call showed is not here: what it became is then shown by this one.
    const old = isUpdate ? this.#shown.filter((shown) => shown.displayId === displayId) : []
    const events = this.#clearsNext.has(block) && old.length === 0 ? this.#clear(block) : []
    const bytes = contents.reduce((sum, content) => sum + sizeOf(content), 0)
    const before = old.reduce((sum, shown) => sum + shown.bytes, 0)
    const after = this.#bytes - before + bytes * Math.max(1, old.length)
    if (after > this.#limits.maxBytes) return { events, trouble: "richOutput.maxBytes is reached" }
    if (old.length === 0 && this.#shown.length >= this.#limits.maxCount) {
      return { events, trouble: "richOutput.maxCount is reached" }
    }
    this.#bytes = after
    const changed = old.length > 0 ? old : [this.#add(block, displayId)]
    for (const shown of changed) {
      shown.contents = contents
      shown.bytes = bytes
      events.push({ type: "display", block, action, outputs: outputsOf(shown) })
    }
    return { events }
  }

  /** What a block shows at its end. */
  of(block: number): RichOutput[] {
    return this.#shown.filter((shown) => shown.block === block).flatMap(outputsOf)
  }

  #add(block: number, displayId: string | undefined): Shown {
    this.#count += 1
    const shown: Shown = { display: this.#count, displayId, block, contents: [], bytes: 0 }
    this.#shown.push(shown)
    return shown
  }

  #clear(block: number): DisplayEvent[] {
    this.#clearsNext.delete(block)
    this.#shown = this.#shown.filter((shown) => shown.block !== block)
    this.#bytes = this.#shown.reduce((sum, { bytes }) => sum + bytes, 0)
    return [{ type: "display", block, action: "clear", outputs: [] }]
  }
}

function outputsOf({ display, displayId, contents }: Shown): RichOutput[] {
  return contents.map((content) => ({
    ...content,
    display,
    ...(displayId === undefined ? {} : { displayId }),
  }))
}
