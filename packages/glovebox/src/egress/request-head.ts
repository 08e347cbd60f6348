import type { ByteStream } from "./byte-stream.ts"
import { Refusal, printable } from "./refusal.ts"

export interface HeaderField {
  readonly name: string
  /** The name in lower case. */
  readonly key: string
  readonly value: string
}

/** The head of an HTTP/1 request. */
export interface RequestHead {
  readonly method: string
  readonly target: string
  readonly version: "1.0" | "1.1"
  readonly fields: readonly HeaderField[]
}

export const MOST_HEAD_BYTES = 32 * 1024
const MOST_FIELDS = 200
const END = Buffer.from("\r\n\r\n")
const LF = 0x0a
const CR = 0x0d

const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}) ([\x21-\x7e]+) HTTP\/1\.([01])$/
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Reads up to the empty line that ends a head; what follows is put back. Throws Refusal. */
export async function readHeadBytes(stream: ByteStream): Promise<Buffer> {
  let buffer = Buffer.alloc(0)
  let length = 0
  let hasLine = false
  for (;;) {
    const chunk = await stream.read()
    if (!chunk) throw malformed("The request was cut off in its head.")
    // Twice the size each time: a client that sends byte by byte must not make this slow.
    if (length + chunk.length > buffer.length) {
      const larger = Buffer.alloc(Math.max(1024, 2 * (length + chunk.length)))
      buffer.copy(larger, 0, 0, length)
      buffer = larger
    }
    chunk.copy(buffer, length)
    const from = length
    length += chunk.length
    const all = buffer.subarray(0, length)
    const at = all.indexOf(END, Math.max(0, from - 3))
    const end = at < 0 ? length : at + END.length
    // A client that ends its lines otherwise is told so now, and does not wait.
    checkLineEnds(all, from, end)
    if (!hasLine && all.includes(LF, from)) {
      hasLine = true
      // The rest of what is no request would be waited for in vain.
      readRequestLine(all.subarray(0, all.indexOf(LF) - 1).toString("latin1"))
    }
    if (end > MOST_HEAD_BYTES)
      throw new Refusal(
        "HEADER_TOO_LARGE",
        `The head of the request is larger than ${MOST_HEAD_BYTES / 1024} KiB.`,
        "Send fewer or shorter headers, or put the data into the body.",
      )
    if (at < 0) continue
    stream.unread(all.subarray(end))
    return all.subarray(0, end)
  }
}

/** Parses a head strictly: what two readers could read in two ways is refused. Throws Refusal. */
export function parseRequestHead(bytes: Buffer): RequestHead {
  const text = bytes.subarray(0, -END.length).toString("latin1")
  if (/[^\t\r\n\x20-\x7e\x80-\xff]/.test(text)) throw malformed("The head has a control character.")
  const [first = "", ...lines] = text.split("\r\n")
  if (/[\r\n]/.test(text.replaceAll("\r\n", "")))
    throw malformed("The head has a line end that is not CR LF.")
  const line = readRequestLine(first)
  if (lines.length > MOST_FIELDS)
    throw new Refusal(
      "HEADER_TOO_LARGE",
      `The head has more than ${MOST_FIELDS} fields.`,
      "Send fewer headers.",
    )
  return { ...line, fields: lines.map(parseField) }
}

/** All values of a field. */
export function valuesOf({ fields }: RequestHead, key: string): readonly string[] {
  return fields.filter((field) => field.key === key).map(({ value }) => value)
}

/** The members of a field that is a list, in lower case. */
export function membersOf(head: RequestHead, key: string): readonly string[] {
  return valuesOf(head, key).flatMap((value) =>
    value
      .split(",")
      .map((member) => member.trim().toLowerCase())
      .filter((member) => member !== ""),
  )
}

export function malformed(message: string): Refusal {
  return new Refusal("BAD_REQUEST", message, "Send a plain HTTP/1.1 request through a usual HTTP client.")
}

function parseField(line: string): HeaderField {
  const colon = line.indexOf(":")
  const name = line.slice(0, Math.max(0, colon))
  if (!FIELD_NAME.test(name))
    throw malformed(`The head has a line that is no header: ${printable(line.slice(0, 60))}`)
  return { name, key: name.toLowerCase(), value: trimBlanks(line, colon + 1) }
}

// By index: an expression for blanks before the end would look at a run of them once from each of its places.
function trimBlanks(line: string, from: number): string {
  let [start, end] = [from, line.length]
  while (start < end && isBlank(line, start)) start += 1
  while (end > start && isBlank(line, end - 1)) end -= 1
  return line.slice(start, end)
}

function isBlank(line: string, at: number): boolean {
  return line[at] === " " || line[at] === "\t"
}

function readRequestLine(text: string): Omit<RequestHead, "fields"> {
  const line = REQUEST_LINE.exec(text)
  if (!line) throw badRequestLine(text)
  const [, method = "", target = "", minor = ""] = line
  return { method, target, version: minor === "0" ? "1.0" : "1.1" }
}

function badRequestLine(line: string): Refusal {
  if (/ HTTP\/2/.test(line))
    return new Refusal(
      "UNSUPPORTED",
      "HTTP/2 without TLS does not pass.",
      "Use HTTP/1.1, or HTTP/2 over TLS (https).",
    )
  return malformed(`This is no request line: ${printable(line.slice(0, 80))}`)
}

function checkLineEnds(bytes: Buffer, from: number, to: number): void {
  for (let at = bytes.indexOf(LF, from); at >= 0 && at < to; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at - 1] !== CR) throw malformed("The head has a line end that is not CR LF.")
  }
}
