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
  #parts = []
  #bytes = 0
  // How many bytes the frame that is not whole yet has in all, once its header is known.
  #wanted
  #onFrame

  /** @param {(type: string, payload: Buffer) => void} onFrame */
  constructor(onFrame) {
    this.#onFrame = onFrame
  }

  /** @param {Buffer} chunk */
  push(chunk) {
    this.#parts.push(chunk)
    this.#bytes += chunk.length
    while (this.#bytes >= (this.#wanted ?? HEADER_BYTES)) {
      const whole = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts)
      if (this.#wanted === undefined) {
        const length = whole.readUInt32BE(1)
        if (length > LONGEST_FRAME) throw new Error(`a frame of ${length} bytes`)
        this.#parts = [whole]
        this.#wanted = HEADER_BYTES + length
        continue
      }
      const rest = whole.subarray(this.#wanted)
      const payload = whole.subarray(HEADER_BYTES, this.#wanted)
      this.#parts = [rest]
      this.#bytes = rest.length
      this.#wanted = undefined
      this.#onFrame(String.fromCharCode(whole[0]), payload)
    }
  }
}
