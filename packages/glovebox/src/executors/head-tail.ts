import { formatBytes } from "../policy/units.ts"
import { continuationStart, incompleteEnd } from "./utf8-boundary.ts"

/** The first and the last half of a stream of bytes, in memory of at most the limit. */
export class HeadTail {
  readonly #headLimit: number
  readonly #tailLimit: number
  #head = Buffer.alloc(0)
  #headLength = 0
  // A ring once it is as large as it may be; until then, filled from the front.
  #ring = Buffer.alloc(0)
  #ringLength = 0
  #ringEnd = 0
  #bytes = 0

  constructor(limitBytes: number) {
    this.#headLimit = Math.ceil(limitBytes / 2)
    this.#tailLimit = limitBytes - this.#headLimit
  }

  /** All that came, also what was left out. */
  get bytes(): number {
    return this.#bytes
  }

  get truncated(): boolean {
    return this.#bytes > this.#headLength + this.#ringLength
  }

  /** Copies what it keeps: the bytes may be a view of a buffer that is used again. */
  push(bytes: Uint8Array): void {
    this.#bytes += bytes.length
    const taken = Math.min(bytes.length, this.#headLimit - this.#headLength)
    if (taken > 0) this.#pushHead(bytes.subarray(0, taken))
    if (taken < bytes.length) this.#pushTail(taken === 0 ? bytes : bytes.subarray(taken))
  }

  /** The text, with a line that says how much was left out where something was. */
  text(): string {
    const head = this.#head.subarray(0, this.#headLength)
    const tail = this.#tail()
    if (!this.truncated) return Buffer.concat([head, tail]).toString("utf8")
    const kept = head.subarray(0, head.length - incompleteEnd(head))
    const rest = tail.subarray(continuationStart(tail))
    const leftOut = this.#bytes - kept.length - rest.length
    return `${kept.toString("utf8")}\n[... ${formatRounded(leftOut)} left out ...]\n${rest.toString("utf8")}`
  }

  #pushHead(bytes: Uint8Array): void {
    this.#head = grown(this.#head, this.#headLength, this.#headLength + bytes.length, this.#headLimit)
    this.#head.set(bytes, this.#headLength)
    this.#headLength += bytes.length
  }

  #pushTail(bytes: Uint8Array): void {
    if (this.#ring.length < this.#tailLimit) {
      this.#ring = grown(this.#ring, this.#ringLength, this.#ringLength + bytes.length, this.#tailLimit)
    }
    const ring = this.#ring
    this.#ringLength = Math.min(ring.length, this.#ringLength + bytes.length)
    if (this.#ringEnd + bytes.length <= ring.length) {
      ring.set(bytes, this.#ringEnd)
      this.#ringEnd += bytes.length
      return
    }
    const last = bytes.subarray(Math.max(0, bytes.length - ring.length))
    const first = Math.min(last.length, ring.length - this.#ringEnd)
    ring.set(last.subarray(0, first), this.#ringEnd)
    ring.set(last.subarray(first), 0)
    this.#ringEnd = last.length - first
  }

  #tail(): Buffer {
    if (this.#ringLength < this.#ring.length) return this.#ring.subarray(0, this.#ringLength)
    return Buffer.concat([this.#ring.subarray(this.#ringEnd), this.#ring.subarray(0, this.#ringEnd)])
  }
}

// By doubling, so that little output takes little memory and much output is copied twice at most.
function grown(
  buffer: Buffer<ArrayBuffer>,
  used: number,
  needed: number,
  limit: number,
): Buffer<ArrayBuffer> {
  if (needed <= buffer.length) return buffer
  const larger = Buffer.allocUnsafeSlow(Math.min(limit, Math.max(needed, buffer.length * 2, 1024)))
  buffer.copy(larger, 0, 0, used)
  return larger
}

// Three figures or more tell enough, and a whole number of units is written short.
function formatRounded(bytes: number): string {
  const unit = [1024 ** 3, 1024 ** 2, 1024].find((size) => bytes >= size * 100) ?? 1
  return formatBytes(Math.round(bytes / unit) * unit)
}
