import { createHash } from "node:crypto"
import type { JsonValue } from "../../core/index.ts"
import type { RichContent } from "../rich-output.ts"
import { isSimple } from "./json-shape.ts"
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

const LIMITS = { maxDepth: 64, maxValues: 250_000 }
const MAX_FORMS = 32
const MAX_ID = 256
const MIME = /^[a-z0-9][a-z0-9.+-]{0,63}\/[a-z0-9][a-z0-9.+-]{0,127}$/i
const NOT_BASE64 = /[^A-Za-z0-9+/=\s]/
const NOT_PADDING = /[^=\s]/

/** Reads what the kernel sent; the code may have written all of it. Undefined when it makes no sense. */
export function readDisplay(kind: RichMessage["kind"], content: Buffer): Display | undefined {
  const message = parse(content)
  if (!isRecord(message)) return undefined
  if (kind === "clear_output") {
    const { wait = false } = message
    return typeof wait === "boolean" ? { action: "clear", waits: wait } : undefined
  }
  const { data, transient = {} } = message
  if (!isRecord(data) || !isRecord(transient)) return undefined
  return {
    action: kind === "update_display_data" ? "update" : "show",
    displayId: readId(transient["display_id"]),
    ...readForms(data),
  }
}

function readForms(data: Readonly<Record<string, unknown>>): {
  contents: RichContent[]
  troubles: string[]
} {
  const contents: RichContent[] = []
  const troubles: string[] = []
  for (const [index, mime] of Object.keys(data).entries()) {
    if (index === MAX_FORMS) {
      troubles.push(`one beyond the first ${MAX_FORMS}`)
      break
    }
    const read = MIME.test(mime) ? readContent(mime.toLowerCase(), data[mime]) : "no media type"
    if (typeof read === "string") troubles.push(`${JSON.stringify(mime.slice(0, 64))}: ${read}`)
    else contents.push(read)
  }
  return { contents, troubles }
}

// A program may take numbers, or names of any length, which would be kept with every output.
function readId(id: unknown): string | undefined {
  if (typeof id !== "string" && typeof id !== "number") return undefined
  const text = String(id)
  return text.length <= MAX_ID ? text : `sha256:${createHash("sha256").update(text).digest("hex")}`
}

function parse(content: Buffer): unknown {
  if (!isSimple(content, LIMITS)) return undefined
  try {
    return JSON.parse(content.toString("utf8"))
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
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
  if (typeof data !== "string" || !isBase64(data)) return "not in base64"
  const bytes = new Uint8Array(Buffer.from(data, "base64"))
  const begin = Buffer.from(bytes.subarray(0, magic.length / 2)).toString("hex")
  return begin === magic ? make(bytes) : "not such an image"
}

// Looks for what may not be there: a pattern for the whole would try again from every character.
function isBase64(text: string): boolean {
  const end = text.indexOf("=")
  return !NOT_BASE64.test(text) && (end === -1 || !NOT_PADDING.test(text.slice(end)))
}
