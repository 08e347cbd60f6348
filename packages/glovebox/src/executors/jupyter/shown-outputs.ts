import type { DisplayEvent } from "../execution-event.ts"
import type { RichContent, RichOutput } from "../rich-output.ts"
import type { Display } from "./read-display.ts"

interface Shown {
  readonly display: number
  readonly displayId: string | undefined
  contents: readonly RichContent[]
}

export interface ShownLimits {
  readonly maxBytes: number
  readonly maxCount: number
}

/** What the blocks of one call have shown, with later changes in their places. */
export class ShownOutputs {
  readonly #limits: ShownLimits
  readonly #blocks: Shown[][] = []
  readonly #clearsNext = new Set<number>()
  #count = 0
  #bytes = 0

  constructor(limits: ShownLimits) {
    this.#limits = limits
  }

  /** Takes it over and tells what happened; a text says why it was left out. */
  take(block: number, display: Display): readonly DisplayEvent[] | string {
    if (display.action === "clear") {
      if (display.waits) {
        this.#clearsNext.add(block)
        return []
      }
      return this.#clear(block)
    }
    const old = display.action === "update" ? this.#find(display.displayId) : undefined
    if (display.action === "update" && display.displayId === undefined) return "it names no display to change"
    const cleared = this.#clearsNext.has(block) && !old ? this.#clear(block) : []
    const size = sizeOf(display.contents)
    const before = old ? sizeOf(old.contents) : 0
    if (this.#bytes - before + size > this.#limits.maxBytes) return "richOutput.maxBytes is reached"
    if (!old && this.#shown() >= this.#limits.maxCount) return "richOutput.maxCount is reached"
    this.#bytes += size - before
    const shown = old ?? this.#add(block, display.displayId)
    shown.contents = display.contents
    return [...cleared, { type: "display", block, action: display.action, outputs: outputsOf(shown) }]
  }

  /** What a block shows at its end. */
  of(block: number): RichOutput[] {
    return (this.#blocks[block] ?? []).flatMap(outputsOf)
  }

  #add(block: number, displayId: string | undefined): Shown {
    this.#count += 1
    const shown: Shown = { display: this.#count, displayId, contents: [] }
    ;(this.#blocks[block] ??= []).push(shown)
    return shown
  }

  // One that another call showed is not here: what it became is then shown by this one.
  #find(displayId: string | undefined): Shown | undefined {
    if (displayId === undefined) return undefined
    return this.#blocks.flat().find((shown) => shown?.displayId === displayId)
  }

  #shown(): number {
    return this.#blocks.reduce((sum, list) => sum + (list?.length ?? 0), 0)
  }

  #clear(block: number): DisplayEvent[] {
    this.#clearsNext.delete(block)
    const shown = this.#blocks[block] ?? []
    this.#bytes -= shown.reduce((sum, { contents }) => sum + sizeOf(contents), 0)
    this.#blocks[block] = []
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

function sizeOf(contents: readonly RichContent[]): number {
  return contents.reduce((sum, { data }) => {
    const isPlain = typeof data === "string" || data instanceof Uint8Array
    return sum + (isPlain ? data.length : JSON.stringify(data).length)
  }, 0)
}
