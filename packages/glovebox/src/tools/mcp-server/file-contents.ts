import type { CallToolResult } from "@modelcontextprotocol/server"
import { GloveboxError } from "../../core/index.ts"
import type { Image } from "../../models/index.ts"
import { asImage } from "../code-execution/images-of.ts"

export type Content = CallToolResult["content"][number]

export const MOST_LINES = 2_000
const MOST_CHARACTERS = 200_000
// Clients by the official SDK give a server up whose message has more than 10 MiB.
const MOST_ENCODED = 9.5 * 1024 ** 2
/** The largest file that can be sent, as base64. */
export const LARGEST_FILE = 7 * 1024 ** 2

export function text(content: string): Content {
  return { type: "text", text: content }
}

/** What a run has to tell, which with its images has to fit into one message, however much is printed. */
export function outputText(content: string): Content {
  if (JSON.stringify(content).length <= MOST_ENCODED / 2) return text(content)
  const half = MOST_CHARACTERS / 2
  return text(`${content.slice(0, half)}\n[The middle was left out.]\n${content.slice(-half)}`)
}

/** The images, as far as they fit into one message beside the output. */
export function imageContents(images: readonly Image[]): Content[] {
  let room = MOST_ENCODED / 2
  return images.map(({ data, mediaType }) => {
    if (data.length > room) return text("[An image was left out: get it with get_artifact.]")
    room -= data.length
    return { type: "image", data, mimeType: mediaType }
  })
}

/** A file as it is: an image as an image, text as text, others as data. */
export function artifact(name: string, bytes: Buffer): Content {
  const image = asImage(bytes)
  if (image) return { type: "image", data: image.data, mimeType: image.mediaType }
  const uri = `file:///${name.split("/").map(encodeURIComponent).join("/")}`
  if (isText(bytes)) {
    const content = bytes.toString()
    // Text that is all quotes and line ends becomes longer than its base64.
    if (JSON.stringify(content).length <= MOST_ENCODED)
      return { type: "resource", resource: { uri, mimeType: "text/plain", text: content } }
  }
  const blob = bytes.toString("base64")
  return { type: "resource", resource: { uri, mimeType: "application/octet-stream", blob } }
}

/** Some lines of a text file, and how to get the others. */
export function linesOf(name: string, bytes: Buffer, offset: number, limit: number): string {
  if (!isText(bytes)) {
    throw new GloveboxError("WORKSPACE_FAILED", `${name} is no text. Use get_artifact, or read it with code.`)
  }
  const lines = bytes.toString().split("\n")
  if (offset > 0 && offset >= lines.length) {
    throw new GloveboxError(
      "WORKSPACE_FAILED",
      `${name} has ${lines.length} lines, and none at offset ${offset}.`,
    )
  }
  const shown = lines.slice(offset, offset + limit)
  // A model pays for each character, and lines may be of any length.
  let room = MOST_CHARACTERS
  const end = shown.findIndex(({ length }) => (room -= length + 1) < 0)
  const fitting = end === -1 ? shown : shown.slice(0, end)
  if (end === 0) {
    const first = shown[0] ?? ""
    return `${first.slice(0, MOST_CHARACTERS)}\n[this line has ${first.length} characters; read it with code]`
  }
  const next = offset + fitting.length
  const rest = lines.length - next
  return rest > 0
    ? `${fitting.join("\n")}\n[${rest} more lines; go on with offset ${next}]`
    : fitting.join("\n")
}

function isText(bytes: Buffer): boolean {
  if (bytes.includes(0)) return false
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
