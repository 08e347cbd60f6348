import { ChunkedDecoder, LAST_CHUNK, encodeChunk } from "./chunked-decoder.ts"
import { Refusal } from "./refusal.ts"
import { MOST_HEAD_BYTES } from "./request-head.ts"
import type { Replacement } from "./secret-forms.ts"
import { StreamReplacer } from "./stream-replacer.ts"

const END = Buffer.from("\r\n\r\n")

/**
 * Takes secrets out of what a server answers to one request: out of heads and body, also where chunks cut them. Bytes
 * that it cannot read are refused. Throws Refusal.
 */
export class AnswerScrubber {
  readonly #replacements: readonly Replacement[]
  #body: StreamReplacer
  #head: Buffer | undefined = Buffer.alloc(0)
  #chunks: ChunkedDecoder | undefined
  // Of a body that says how long it is: what is held back must not wait for a server that stays.
  #left = Number.POSITIVE_INFINITY
  #isOver = false

  constructor(replacements: readonly Replacement[]) {
    this.#replacements = replacements
    this.#body = new StreamReplacer(replacements)
  }

  /** What of it can pass by now. */
  push(bytes: Buffer): Buffer {
    if (!this.#head) return this.#pushBody(bytes)
    this.#head = Buffer.concat([this.#head, bytes])
    const passed: Buffer[] = []
    for (;;) {
      const end = this.#head.indexOf(END)
      if (end < 0 && this.#head.length > MOST_HEAD_BYTES) throw unreadable("has a head without an end")
      if (end < 0) return Buffer.concat(passed)
      const head = this.#head.subarray(0, end + END.length)
      const rest = this.#head.subarray(head.length)
      passed.push(this.#scrubbed(head))
      const text = head.toString("latin1")
      // Others than the switch to another protocol come before the answer itself.
      if (/^HTTP\/1\.[01] 1(?!01)\d\d/.test(text)) this.#head = rest
      else {
        this.#begin(text)
        passed.push(this.#pushBody(rest))
        return Buffer.concat(passed)
      }
    }
  }

  /** The rest, at the end of all. */
  end(): Buffer {
    if (this.#head) return this.#scrubbed(this.#head)
    if (!this.#chunks) return this.#body.end()
    // Cut off it stays: whoever has a part must not take it for all.
    return Buffer.alloc(0)
  }

  #begin(head: string): void {
    this.#head = undefined
    if (fieldOf(head, "content-encoding").some((coding) => coding !== "identity"))
      throw unreadable("is compressed, though it was asked not to be")
    const codings = fieldOf(head, "transfer-encoding")
    if (codings.some((coding) => coding !== "chunked") || codings.length > 1)
      throw unreadable("has a transfer encoding other than chunked")
    if (codings.length === 1) this.#chunks = new ChunkedDecoder()
    else this.#left = Number(fieldOf(head, "content-length")[0] ?? Number.POSITIVE_INFINITY)
  }

  #pushBody(bytes: Buffer): Buffer {
    if (bytes.length === 0 || this.#isOver) return Buffer.alloc(0)
    if (!this.#chunks) {
      this.#left -= bytes.length
      const passed = this.#body.push(bytes)
      return this.#left > 0 ? passed : Buffer.concat([passed, this.#body.end()])
    }
    const { data, rest } = this.#chunks.decode(bytes)
    const passed = [...data.map((piece) => this.#body.push(piece)), ...(rest ? [this.#body.end()] : [])]
    const text = Buffer.concat(passed)
    this.#isOver = rest !== undefined
    return Buffer.concat([text.length > 0 ? encodeChunk([text]) : text, ...(rest ? [LAST_CHUNK] : [])])
  }

  #scrubbed(bytes: Buffer): Buffer {
    const replacer = new StreamReplacer(this.#replacements)
    return Buffer.concat([replacer.push(bytes), replacer.end()])
  }
}

function fieldOf(head: string, name: string): string[] {
  const lines = head.split("\r\n").filter((line) => line.toLowerCase().startsWith(`${name}:`))
  return lines.flatMap((line) =>
    line
      .slice(name.length + 1)
      .split(",")
      .map((member) => member.trim().toLowerCase())
      .filter((member) => member !== ""),
  )
}

function unreadable(what: string): Refusal {
  return new Refusal(
    "SECRET_HIDDEN",
    `The server was sent a secret, and its answer ${what}, so whether the secret is in it cannot be seen.`,
    "Use another request that is answered as plain text, or ask for the secret not to be sent to this host.",
  )
}
