const MOST_VECTORS = 1024

/**
 * The memory of a WebAssembly instance, as the calls of its guest see it. A guest is hostile: the places that it names
 * are numbers of its choice, and one outside its memory makes a RangeError here.
 */
export class GuestMemory {
  #memory

  /** @param {() => WebAssembly.Memory} memory */
  constructor(memory) {
    this.#memory = memory
  }

  // Made anew each time: memory that grows leaves the old views empty.
  get #view() {
    return new DataView(this.#memory().buffer)
  }

  bytes(at, length) {
    return new Uint8Array(this.#memory().buffer, at >>> 0, length >>> 0)
  }

  readU8(at) {
    return this.#view.getUint8(at >>> 0)
  }

  readU16(at) {
    return this.#view.getUint16(at >>> 0, true)
  }

  readU32(at) {
    return this.#view.getUint32(at >>> 0, true)
  }

  readU64(at) {
    return this.#view.getBigUint64(at >>> 0, true)
  }

  writeU8(at, value) {
    this.#view.setUint8(at >>> 0, value)
  }

  writeU16(at, value) {
    this.#view.setUint16(at >>> 0, value, true)
  }

  writeU32(at, value) {
    this.#view.setUint32(at >>> 0, value, true)
  }

  writeU64(at, value) {
    this.#view.setBigUint64(at >>> 0, BigInt(value), true)
  }

  /** A list of places and lengths; undefined when it is too long. */
  vectors(at, count) {
    if (count >>> 0 > MOST_VECTORS) return undefined
    return Array.from({ length: count >>> 0 }, (_, index) => {
      const entry = (at >>> 0) + index * 8
      return this.bytes(this.readU32(entry), this.readU32(entry + 4))
    })
  }

  /** Texts with a zero at the end, one behind the other, and a table of their places. */
  writeTexts(texts, table, buffer) {
    let next = buffer >>> 0
    for (const [index, text] of texts.entries()) {
      const encoded = Buffer.from(`${text}\0`, "utf8")
      this.writeU32((table >>> 0) + index * 4, next)
      this.bytes(next, encoded.length).set(encoded)
      next += encoded.length
    }
  }
}
