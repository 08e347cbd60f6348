const HEADER_BYTES = 5
const LONGEST_FRAME = 1024 ** 2
/** The longest payload that an agent sends. */
export const LONGEST_ANSWER = 64 * 1024

/** @param {string} type @param {Uint8Array} payload */
export function encodeFrame(type, payload) {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + payload.length)
  frame.write(type, 0, "latin1")
  frame.writeUInt32BE(payload.length, 1)
  frame.set(payload, HEADER_BYTES)
  return frame
}

/** @param {string} type @param {unknown} value */
export function encodeJsonFrame(type, value) {
  return encodeFrame(type, Buffer.from(JSON.stringify(value), "utf8"))
}

/** Cuts what the host sends into frames. */
export class FrameReader {
  #rest = Buffer.alloc(0)
  #parts = []
  #bytes = 0
  #onFrame

  /** @param {(type: string, payload: Buffer) => void} onFrame */
  constructor(onFrame) {
    this.#onFrame = onFrame
  }

  /** @param {Buffer} chunk */
  push(chunk) {
    this.#parts.push(chunk)
    this.#bytes += chunk.length
    // Joined only when a frame can be whole: a long one comes in many pieces.
    if (this.#bytes < this.#wanted()) return
    this.#rest = Buffer.concat(this.#parts)
    while (this.#rest.length >= this.#wanted()) {
      const end = this.#wanted()
      if (end === HEADER_BYTES && this.#rest.readUInt32BE(1) > 0) break
      const payload = this.#rest.subarray(HEADER_BYTES, end)
      const type = String.fromCharCode(this.#rest[0])
      this.#rest = this.#rest.subarray(end)
      this.#onFrame(type, payload)
    }
    this.#parts = [this.#rest]
    this.#bytes = this.#rest.length
  }

  #wanted() {
    const head = this.#rest.length >= HEADER_BYTES ? this.#rest : Buffer.concat(this.#parts)
    if (head.length < HEADER_BYTES) return HEADER_BYTES
    const length = head.readUInt32BE(1)
    if (length > LONGEST_FRAME) throw new Error(`a frame of ${length} bytes`)
    return HEADER_BYTES + length
  }
}
