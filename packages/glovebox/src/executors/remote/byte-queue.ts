/** Bytes in the order they were added, taken out in pieces of any size; nothing is copied before. */
export class ByteQueue {
  #parts: Uint8Array[] = []
  #length = 0

  get length(): number {
    return this.#length
  }

  push(part: Uint8Array): void {
    if (part.length === 0) return
    this.#parts.push(part)
    this.#length += part.length
  }

  /** Takes so many bytes, or all there are. */
  take(most: number): Buffer {
    const taken: Uint8Array[] = []
    let left = Math.min(most, this.#length)
    this.#length -= left
    let used = 0
    while (left > 0) {
      const part = this.#parts[used]!
      if (part.length <= left) used += 1
      else this.#parts[used] = part.subarray(left)
      taken.push(part.subarray(0, left))
      left -= Math.min(left, part.length)
    }
    this.#parts = this.#parts.slice(used)
    return Buffer.concat(taken)
  }
}
