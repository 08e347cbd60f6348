import { visibleLine } from "../../internal/safe-text.ts"
import type { Image } from "../../models/index.ts"
import type { ChatItem } from "../messages/index.ts"
import { GutterWriter } from "./gutter-writer.ts"
import type { Mark } from "./item-parts.ts"
import type { Ending, Painter } from "./painter.ts"
import type { TextWriter } from "./text-writer.ts"

// Whatever somebody says is behind two spaces at least, so that nobody can forge another's line.
const MARKS: Readonly<Record<Mark, string>> = {
  thought: "  ",
  next: "  -> ",
  note: "  ",
  call: "  > ",
  result: "  < ",
  failure: "  ! ",
  stdout: "  | ",
  stderr: "  ! ",
  success: "  = ",
  crash: "  = ",
  file: "  + ",
  denied: "  denied: ",
}

/** Lines for programs and files: `name (type)`, and below it what was said, each line behind two spaces. */
export class PlainPainter implements Painter {
  readonly isLive = false

  heading({ source, type }: ChatItem): string {
    return `${visibleLine(source)} (${visibleLine(type)})\n`
  }

  speech(): TextWriter {
    return new GutterWriter("  ")
  }

  marked(mark: Mark): TextWriter {
    const sign = MARKS[mark]
    return new GutterWriter(sign, mark === "stdout" || mark === "stderr" ? sign : " ".repeat(sign.length))
  }

  image({ mediaType }: Image): string {
    return `  [image: ${visibleLine(mediaType)}]\n`
  }

  ending({ stop, stats }: Ending): string {
    const why = stop ? `= stopped (${visibleLine(stop.kind)}): ${visibleLine(stop.reason)}\n` : ""
    if (!stats) return why
    const { messages, promptTokens, completionTokens, durationMs } = stats
    const seconds = (durationMs / 1000).toFixed(3)
    return `${why}= messages ${messages}, prompt tokens ${promptTokens}, completion tokens ${completionTokens}, seconds ${seconds}\n`
  }
}
