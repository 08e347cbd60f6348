import { z } from "zod"
import type { JsonValue } from "../../core/index.ts"
import type { RichContent } from "../rich-output.ts"
import { isShallow } from "./json-depth.ts"
import type { RichMessage } from "./rich-message.ts"

/** What a message of the kernel asks to show. */
export type Display =
  | { readonly action: "clear"; readonly waits: boolean }
  | {
      readonly action: "show" | "update"
      readonly displayId: string | undefined
      readonly contents: readonly RichContent[]
      /** What could not be read of it. */
      readonly troubles: readonly string[]
    }

const MAX_DEPTH = 64
const MAX_FORMS = 32
const MIME = /^[a-z0-9][a-z0-9.+-]{0,63}\/[a-z0-9][a-z0-9.+-]{0,127}$/i
const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/

const display = z.object({
  data: z.record(z.string(), z.unknown()),
  transient: z.object({ display_id: z.string().max(256).optional() }).optional(),
})
const clear = z.object({ wait: z.boolean().optional() })

/** Reads what the kernel sent; the code may have written all of it. Undefined when it makes no sense. */
export function readDisplay(kind: RichMessage["kind"], content: Buffer): Display | undefined {
  const value = parse(content)
  if (kind === "clear_output") {
    const { data } = clear.safeParse(value)
    return data && { action: "clear", waits: data.wait ?? false }
  }
  const { data: message } = display.safeParse(value)
  if (!message) return undefined
  const contents: RichContent[] = []
  const troubles: string[] = []
  for (const [mime, data] of Object.entries(message.data).slice(0, MAX_FORMS)) {
    const read = MIME.test(mime) ? readContent(mime.toLowerCase(), data) : "no media type"
    if (typeof read === "string") troubles.push(`${JSON.stringify(mime.slice(0, 64))}: ${read}`)
    else contents.push(read)
  }
  return {
    action: kind === "update_display_data" ? "update" : "show",
    displayId: message.transient?.display_id,
    contents,
    troubles,
  }
}

function parse(content: Buffer): unknown {
  if (!isShallow(content, MAX_DEPTH)) return undefined
  try {
    return JSON.parse(content.toString("utf8"))
  } catch {
    return undefined
  }
}

// What it is, or what is wrong with it.
function readContent(mime: string, data: unknown): RichContent | string {
  switch (mime) {
    case "text/plain":
      return withText(data, (text) => ({ type: "text", mime, data: text }))
    case "text/markdown":
      return withText(data, (text) => ({ type: "markdown", mime, data: text }))
    case "text/latex":
      return withText(data, (text) => ({ type: "latex", mime, data: text }))
    case "text/html":
      return withText(data, (text) => ({ type: "html", mime, data: text }))
    case "image/svg+xml":
      return withText(data, (text) => ({ type: "svg", mime, data: text }))
    case "image/png":
      return withImage(data, "89504e470d0a1a0a", (bytes) => ({ type: "png", mime, data: bytes }))
    case "image/jpeg":
      return withImage(data, "ffd8ff", (bytes) => ({ type: "jpeg", mime, data: bytes }))
    case "image/gif":
      return withImage(data, "47494638", (bytes) => ({ type: "gif", mime, data: bytes }))
    default: {
      const isJson = mime === "application/json" || mime.endsWith("+json")
      // It came out of JSON.parse.
      return { type: isJson ? "json" : "other", mime, data: data as JsonValue }
    }
  }
}

// A notebook may give text in lines.
function withText(data: unknown, make: (text: string) => RichContent): RichContent | string {
  if (typeof data === "string") return make(data)
  if (Array.isArray(data) && data.every((line) => typeof line === "string")) return make(data.join(""))
  return "not text"
}

function withImage(
  data: unknown,
  magic: string,
  make: (bytes: Uint8Array) => RichContent,
): RichContent | string {
  if (typeof data !== "string" || !BASE64.test(data)) return "not in base64"
  const bytes = new Uint8Array(Buffer.from(data, "base64"))
  const begin = Buffer.from(bytes.subarray(0, magic.length / 2)).toString("hex")
  return begin === magic ? make(bytes) : "not such an image"
}
