import { visibleLine } from "../../internal/safe-text.ts"
import type { Image } from "../../models/index.ts"
import type { ChatItem } from "../messages/index.ts"
import { GutterWriter } from "./gutter-writer.ts"
import { humanDuration } from "./human-amounts.ts"
import type { Mark } from "./item-parts.ts"
import { MarkdownWriter } from "./markdown-writer.ts"
import { type Style, paint } from "./paint.ts"
import type { Ending, Painter } from "./painter.ts"
import { count } from "./shorten-text.ts"
import { StyledWriter } from "./styled-writer.ts"
import type { TextWriter } from "./text-writer.ts"

type Color = "cyan" | "magenta" | "green" | "yellow" | "blue"
const COLORS: readonly Color[] = ["cyan", "magenta", "green", "yellow", "blue"]

interface MarkLook {
  readonly mark: string
  readonly style?: Style
  readonly textStyle?: Style
  /** Whether only the first line has it. @default false */
  readonly isOnce?: boolean
}

const MARKS: Readonly<Record<Mark, MarkLook>> = {
  thought: { mark: "  ", textStyle: ["dim", "italic"] },
  next: { mark: "→ ", textStyle: "dim" },
  note: { mark: "  ", textStyle: "dim" },
  call: { mark: "  → ", style: "cyan", isOnce: true },
  result: { mark: "  ← ", style: "cyan", isOnce: true },
  failure: { mark: "  ✗ ", style: "red", isOnce: true },
  stdout: { mark: "  │ ", style: "dim" },
  stderr: { mark: "  ┃ ", style: "red" },
  success: { mark: "  ✓ ", style: "green", isOnce: true },
  crash: { mark: "  ✗ ", style: "red", isOnce: true },
  file: { mark: "  + ", style: "green", isOnce: true },
  denied: { mark: "  ⊘ DENIED ", style: ["red", "bold"], isOnce: true },
}

/** Draws for a person at a terminal. */
export class RichPainter implements Painter {
  readonly isLive = true
  readonly #showsImages: boolean
  readonly #colors = new Map<string, Color>()
  #last = ""

  constructor(showsImages: boolean) {
    this.#showsImages = showsImages
  }

  heading(item: ChatItem): string {
    const { source } = item
    if (item.type === "SelectSpeakerEvent") {
      this.#last = ""
      return "\n"
    }
    const deed = deedOf(item)
    if (this.#last === `${source}\n${deed}`) return ""
    // Two messages in a row are two.
    this.#last = deed === SAYS ? "" : `${source}\n${deed}`
    // What models write is never drawn inverted, so that they cannot draw a heading.
    return `\n${paint(["inverse", "bold", this.#color(source)], ` ${visibleLine(source)} `)} ${paint("dim", visibleLine(deed))}\n`
  }

  speech(): TextWriter {
    return new MarkdownWriter()
  }

  marked(mark: Mark): TextWriter {
    const { mark: sign, style, textStyle, isOnce } = MARKS[mark]
    const drawn = style === undefined ? sign : paint(style, sign)
    const writer = new GutterWriter(drawn, isOnce === true ? " ".repeat(sign.length) : drawn)
    return textStyle === undefined ? writer : new StyledWriter(writer, textStyle)
  }

  image({ mediaType, data }: Image): string {
    // The way of iTerm2 and those that do as it does.
    const inline = this.#showsImages ? `\u001B]1337;File=inline=1:${data}\u0007\n` : ""
    return inline === "" ? `${paint("dim", `[image: ${visibleLine(mediaType)}]`)}\n` : inline
  }

  ending({ stop, stats }: Ending): string {
    const label = stop?.kind === "suspended" ? "Waiting:" : "Stopped:"
    const why = stop ? `${paint("bold", label)} ${visibleLine(stop.reason)}\n` : ""
    if (!stats) return why === "" ? "" : `\n${why}`
    const { messages, promptTokens, completionTokens, durationMs } = stats
    const tokens = `${promptTokens.toLocaleString("en")} + ${count(completionTokens, "token")}`
    return `\n${why}${paint("dim", `${count(messages, "message")} · ${tokens} · ${humanDuration(durationMs)}`)}\n`
  }

  #color(source: string): Color {
    const known = this.#colors.get(source) ?? COLORS[this.#colors.size % COLORS.length] ?? "cyan"
    this.#colors.set(source, known)
    return known
  }
}

const SAYS = "says"

/** What somebody does, in words. */
function deedOf(item: ChatItem): string {
  switch (item.type) {
    case "TextMessage":
    case "MultiModalMessage":
    case "StructuredMessage":
    case "ModelClientStreamingChunkEvent":
      return SAYS
    case "StopMessage":
      return "asks to stop"
    case "HandoffMessage":
      return "hands over"
    case "ThoughtEvent":
      return "thinks"
    case "ToolCallRequestEvent":
    case "ToolCallExecutionEvent":
    case "ToolOutputEvent":
      return "uses tools"
    case "ToolCallSummaryMessage":
      return "tells what tools said"
    case "CodeGenerationEvent":
      return item.retryAttempt === 0 ? "writes code" : `writes code, attempt ${item.retryAttempt + 1}`
    case "CodeOutputEvent":
    case "CodeExecutionEvent":
      return "runs code"
    case "MemoryQueryEvent":
      return "remembers"
    case "SelectorEvent":
    case "SelectSpeakerEvent":
      return "chooses who speaks"
    case "UserInputRequestedEvent":
      return "is asked"
    default:
      // A type of one's own.
      return (item satisfies never as ChatItem).type
  }
}
