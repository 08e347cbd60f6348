import { smuggling } from "./request-framing.ts"

const CR = 0x0d
const LF = 0x0a
const MOST_SIZE_DIGITS = 8
// Of a line with extensions, and of all trailers: both are dropped.
const MOST_EXTENSION_BYTES = 256
const MOST_TRAILER_BYTES = 8 * 1024
const TRAILER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:/

type State = "size" | "extension" | "size-end" | "data" | "data-cr" | "data-lf" | "trailer" | "done"

export interface DecodedChunks {
  /** The data in what was given. */
  readonly data: readonly Buffer[]
  /** What comes after the body; there only when the body is over. */
  readonly rest: Buffer | undefined
}

/** Takes a chunked body apart, strictly. Throws Refusal. */
export class ChunkedDecoder {
  #state: State = "size"
  #digits = ""
  #left = 0
  #extra = 0
  #trailerLine: number[] = []

  decode(bytes: Buffer): DecodedChunks {
    const data: Buffer[] = []
    let at = 0
    while (at < bytes.length && this.#state !== "done") {
      if (this.#state === "data") {
        const piece = bytes.subarray(at, at + this.#left)
        data.push(piece)
        at += piece.length
        this.#left -= piece.length
        if (this.#left === 0) this.#state = "data-cr"
      } else {
        this.#step(bytes[at]!)
        at += 1
      }
    }
    return { data, rest: this.#state === "done" ? bytes.subarray(at) : undefined }
  }

  #step(byte: number): void {
    switch (this.#state) {
      case "size":
        return this.#stepSize(byte)
      case "extension":
        if (byte === CR) this.#state = "size-end"
        else if ((byte < 0x20 && byte !== 0x09) || byte > 0x7e || ++this.#extra > MOST_EXTENSION_BYTES)
          throw smuggling("has a chunk with an odd extension")
        return
      case "size-end":
        if (byte !== LF) throw badLine()
        this.#left = Number.parseInt(this.#digits, 16)
        this.#digits = ""
        this.#extra = 0
        this.#state = this.#left === 0 ? "trailer" : "data"
        return
      case "data-cr":
        if (byte !== CR) throw smuggling("has a chunk that is longer than it says")
        this.#state = "data-lf"
        return
      case "data-lf":
        if (byte !== LF) throw badLine()
        this.#state = "size"
        return
      case "trailer":
        return this.#stepTrailer(byte)
      case "data":
      case "done":
    }
  }

  #stepSize(byte: number): void {
    const character = String.fromCharCode(byte)
    if (/[0-9a-f]/i.test(character)) {
      this.#digits += character
      if (this.#digits.length > MOST_SIZE_DIGITS) throw smuggling("has a chunk of an odd size")
    } else if (this.#digits === "") throw smuggling("has a chunk without a size")
    else if (byte === CR) this.#state = "size-end"
    else if (character === ";") this.#state = "extension"
    else throw smuggling("has a chunk of an odd size")
  }

  #stepTrailer(byte: number): void {
    if (++this.#extra > MOST_TRAILER_BYTES) throw smuggling("has too many trailers")
    const line = this.#trailerLine
    const isAfterCr = line.at(-1) === CR
    if (byte === LF) {
      if (!isAfterCr) throw badLine()
      if (line.length === 1) this.#state = "done"
      else if (!TRAILER.test(Buffer.from(line).toString("latin1")))
        throw smuggling("has a trailer that is no header")
      this.#trailerLine = []
    } else if (isAfterCr || (byte < 0x20 && byte !== 0x09 && byte !== CR)) throw badLine()
    else line.push(byte)
  }
}

function badLine(): Error {
  return smuggling("has a line end in its chunks that is not CR LF")
}

/** The data as one chunk. */
export function encodeChunk(data: readonly Buffer[]): Buffer {
  const length = data.reduce((sum, piece) => sum + piece.length, 0)
  return Buffer.concat([Buffer.from(`${length.toString(16)}\r\n`), ...data, Buffer.from("\r\n")])
}

export const LAST_CHUNK = Buffer.from("0\r\n\r\n")
