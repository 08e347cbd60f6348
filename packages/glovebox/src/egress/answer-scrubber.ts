import { type AnswerFraming, readAnswerHead } from "./answer-head.ts"
import { ChunkedDecoder, LAST_CHUNK, encodeChunk } from "./chunked-decoder.ts"
import { MOST_HEAD_BYTES } from "./request-head.ts"
import type { SecretFinder } from "./secret-finder.ts"
import { StreamReplacer } from "./stream-replacer.ts"
import { unreadable } from "./unreadable.ts"

const END = Buffer.from("\r\n\r\n")
const NOTHING = Buffer.alloc(0)

/**
 * Takes secrets out of what a server answers to one request: out of heads and body, also where chunks cut them. What it
 * cannot read is refused, and what comes behind the answer stays here. Throws Refusal.
 */
export class AnswerScrubber {
  readonly #finder: SecretFinder
  readonly #body: StreamReplacer
  #head: Buffer | undefined = NOTHING
  #chunks: ChunkedDecoder | undefined
  // Of a body that says how long it is: what is held back must not wait for a server that stays.
  #left = Number.POSITIVE_INFINITY
  #isOver = false

  constructor(finder: SecretFinder) {
    this.#finder = finder
    this.#body = new StreamReplacer(finder)
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
      const framing = readAnswerHead(head.subarray(0, end).toString("latin1"))
      passed.push(this.#scrubbed(head))
      if (framing.kind === "interim") this.#head = rest
      else {
        this.#head = undefined
        this.#begin(framing)
        passed.push(this.#pushBody(rest))
        return Buffer.concat(passed)
      }
    }
  }

  /** The rest, at the end of all. */
  end(): Buffer {
    if (this.#head && this.#head.length > 0) throw unreadable("has a head without an end")
    // Cut off a body of chunks stays: whoever has a part must not take it for all.
    return this.#head || this.#chunks ? NOTHING : this.#body.end()
  }

  #begin(framing: AnswerFraming): void {
    if (framing.kind === "chunked") this.#chunks = new ChunkedDecoder()
    if (framing.kind === "length") this.#left = framing.length
    this.#isOver = this.#left === 0
  }

  #pushBody(bytes: Buffer): Buffer {
    if (bytes.length === 0 || this.#isOver) return NOTHING
    if (!this.#chunks) {
      const own = bytes.subarray(0, this.#left)
      this.#left -= own.length
      this.#isOver = this.#left === 0
      const passed = this.#body.push(own)
      return this.#isOver ? Buffer.concat([passed, this.#body.end()]) : passed
    }
    const { data, rest } = this.#chunks.decode(bytes)
    const passed = [...data.map((piece) => this.#body.push(piece)), ...(rest ? [this.#body.end()] : [])]
    const text = Buffer.concat(passed)
    this.#isOver = rest !== undefined
    return Buffer.concat([text.length > 0 ? encodeChunk([text]) : text, ...(rest ? [LAST_CHUNK] : [])])
  }

  #scrubbed(bytes: Buffer): Buffer {
    const replacer = new StreamReplacer(this.#finder)
    return Buffer.concat([replacer.push(bytes), replacer.end()])
  }
}
