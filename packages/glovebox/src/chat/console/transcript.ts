import { type ChatItem, isChatMessage, isChunk, toText } from "../messages/index.ts"
import { type Part, partsOf } from "./item-parts.ts"
import type { Painter } from "./painter.ts"
import type { TextWriter } from "./text-writer.ts"

interface OpenText {
  readonly source: string
  readonly key: string
  readonly writer: TextWriter
}

interface ToldInPieces {
  readonly last: ChatItem
  readonly text: string
  /** Whether the next piece begins another text. */
  readonly isOver: boolean
}

/** Turns what a stream yields into text for a terminal or a file, in an order in which it can be read. */
export class Transcript {
  readonly #painter: Painter
  /** What is being told in pieces; one text at a time. */
  #open: OpenText | undefined
  /** Pieces of others meanwhile: two texts at once could not be read. */
  #waiting: ChatItem[] = []
  /** By source: it is not to be drawn again when it is told whole. */
  readonly #told = new Map<string, ToldInPieces>()
  /** The sources whose code has printed something since it was run last. */
  readonly #withOutput = new Set<string>()

  constructor(painter: Painter) {
    this.#painter = painter
  }

  /** What to write for the next item. */
  show(item: ChatItem): string {
    if (isChunk(item)) return this.#showPiece(item)
    const { source } = item
    const isOther = this.#open !== undefined && this.#open.source !== source
    const closed = isOther ? this.#close() : ""
    return closed + this.#drawWaiting(source) + this.#close() + this.#showWhole(item) + this.#drawWaiting()
  }

  /** What to write when nothing comes any more. */
  finish(): string {
    let text = this.#close()
    while (this.#waiting.length > 0) text += this.#drawWaiting() + this.#close()
    if (this.#painter.isLive) return text
    for (const { last, text: said, isOver } of this.#told.values()) {
      if (!isOver) text += this.#painter.heading(last) + this.#drawPart({ kind: "markdown", text: said })
    }
    return text
  }

  #showPiece(item: ChatItem): string {
    const { source } = item
    if (item.type === "ModelClientStreamingChunkEvent") {
      const told = this.#told.get(source)
      const before = told === undefined || told.isOver ? "" : told.text
      this.#told.set(source, { last: item, text: before + item.content, isOver: false })
      if (!this.#painter.isLive) return ""
    }
    if (item.type === "CodeOutputEvent") this.#withOutput.add(source)
    if (!this.#open || this.#open.source === source) return this.#drawPiece(item)
    this.#waiting.push(item)
    return ""
  }

  #drawPiece(item: ChatItem): string {
    const key = keyOf(item)
    let before = ""
    if (this.#open?.key !== key) {
      // Output and errors of one program are one text, whose lines are marked.
      const goesOn = item.type === "CodeOutputEvent" && this.#open?.key.startsWith(item.type) === true
      before = this.#close() + (goesOn ? "" : this.#painter.heading(item))
      this.#open = { source: item.source, key, writer: this.#writerFor(item) }
    }
    return before + (this.#open?.writer.push(toText(item)) ?? "")
  }

  #writerFor(item: ChatItem): TextWriter {
    if (item.type === "CodeOutputEvent") return this.#painter.marked(item.stream)
    return item.type === "ToolOutputEvent" ? this.#painter.marked("stdout") : this.#painter.speech()
  }

  /** The pieces of somebody who had to wait, or of whoever waits longest. */
  #drawWaiting(source = this.#waiting[0]?.source): string {
    const next = this.#waiting.filter((item) => item.source === source)
    if (next.length === 0) return ""
    this.#waiting = this.#waiting.filter((item) => item.source !== source)
    return next.map((item) => this.#drawPiece(item)).join("")
  }

  #showWhole(item: ChatItem): string {
    const rest = this.#restOf(item)
    if (rest !== undefined) return rest === "" ? "" : this.#drawPart({ kind: "note", text: rest })
    const parts = partsOf(item, this.#withOutput.has(item.source))
    if (item.type === "CodeExecutionEvent" && this.#withOutput.delete(item.source)) {
      this.#told.set(item.source, { last: item, text: item.result.output, isOver: true })
    }
    if (parts.length === 0) return ""
    return this.#painter.heading(item) + parts.map((part) => this.#drawPart(part)).join("")
  }

  /** What was not told yet of what the item says; undefined for all of it. */
  #restOf(item: ChatItem): string | undefined {
    const told = this.#told.get(item.source)
    if (!told) return undefined
    if (isChatMessage(item)) this.#told.delete(item.source)
    else this.#told.set(item.source, { ...told, isOver: true })
    if (!this.#painter.isLive || !isOnlyText(item)) return undefined
    const [said, whole] = [told.text.trim(), toText(item).trim()]
    if (said === "" || !whole.startsWith(said)) return undefined
    const rest = whole.slice(said.length)
    return rest === "" || rest.startsWith("\n") ? rest.trim() : undefined
  }

  #drawPart(part: Part): string {
    if (part.kind === "image") return this.#painter.image(part.image)
    const writer = part.kind === "markdown" ? this.#painter.speech() : this.#painter.marked(part.kind)
    return writer.push(part.text) + writer.end()
  }

  #close(): string {
    const text = this.#open?.writer.end() ?? ""
    this.#open = undefined
    return text
  }
}

/** Which text a piece belongs to. */
function keyOf(item: ChatItem): string {
  if (item.type === "CodeOutputEvent") return `${item.type} ${item.stream}`
  return item.type === "ToolOutputEvent" ? `${item.type} ${item.callId}` : item.type
}

/** Whether its text is all there is to see of it. */
function isOnlyText(item: ChatItem): boolean {
  if (item.metadata["approval"] === "denied") return false
  return isChatMessage(item)
    ? item.type !== "HandoffMessage" && item.type !== "MultiModalMessage"
    : item.type === "CodeGenerationEvent" || item.type === "ThoughtEvent"
}
