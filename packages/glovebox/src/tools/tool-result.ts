import type { Message } from "../core/index.ts"
import type { Image } from "../models/index.ts"

export interface TextResultContent {
  readonly type: "TextResultContent"
  readonly content: string
}

export interface ImageResultContent {
  readonly type: "ImageResultContent"
  readonly content: Image
}

export type ResultContent = TextResultContent | ImageResultContent

/** What came of a call: text and images, or why it failed, in words that a model can act on. */
export interface ToolResult {
  readonly type: "ToolResult"
  /** The name that was called. */
  readonly name: string
  readonly result: readonly ResultContent[]
  readonly isError: boolean
}

/** A piece of what a streaming tool tells before its result. */
export interface ToolChunk {
  readonly type: "ToolChunk"
  readonly name: string
  readonly content: ResultContent
  /** A message of an agent that works behind the tool, as it is. */
  readonly message?: Message | undefined
}

export type ToolStreamItem = ToolChunk | ToolResult

export function textContent(content: string): TextResultContent {
  return { type: "TextResultContent", content }
}

export function imageContent(content: Image): ImageResultContent {
  return { type: "ImageResultContent", content }
}

export function errorResult(name: string, message: string): ToolResult {
  return { type: "ToolResult", name, result: [textContent(message)], isError: true }
}

export interface ToolResultTextOptions {
  /** What stands for an image. @default "[image: image/png]", with its own kind */
  readonly replaceImage?: ((image: Image) => string) | undefined
}

/** The result as one text, a part on each line. */
export function toolResultText(
  { result }: Pick<ToolResult, "result">,
  { replaceImage = ({ mediaType }) => `[image: ${mediaType}]` }: ToolResultTextOptions = {},
): string {
  return result
    .map((part) => (part.type === "TextResultContent" ? part.content : replaceImage(part.content)))
    .join("\n")
}
