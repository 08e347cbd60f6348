import { GloveboxError } from "../../../core/glovebox-error.ts"
import { sizeInBatch } from "./frame-bytes.ts"

/** A frame on its way: waiting, or written and not yet acknowledged. */
export interface Frame {
  readonly seq: number
  bytes: Buffer
  /** True once a stream has taken it, so the other side may have it. */
  isWritten: boolean
  onWritten: (() => void) | undefined
  waiters: Waiter[] | undefined
}

interface Waiter {
  resolve(): void
  reject(error: unknown): void
}

export interface FrameBounds {
  readonly maxQueued: number
  readonly maxQueuedBytes: number
}

// What may be written and not acknowledged; the other side acknowledges far more often.
const WINDOW = 4096
// Urgent frames answer what the other side asked, so it bounds their number; beyond this it does not read at all.
const URGENT_FRAMES = 8
const URGENT_BYTES = 2
const COMPACT_AT = 1024

/** Frames in order of their numbers: the acknowledged leave at the front, the written part is followed by what waits. */
export class FrameQueue {
  readonly #bounds: FrameBounds
  #frames: Frame[] = []
  #head = 0
  #next = 0
  #lastSeq = 0
  #queued = 0
  #queuedBytes = 0
  #inFlightBytes = 0

  constructor(bounds: FrameBounds) {
    this.#bounds = bounds
  }

  /** The number of the last frame that the other side has. */
  get acknowledged(): number {
    return this.#lastSeq - (this.#frames.length - this.#head)
  }

  get lastSeq(): number {
    return this.#lastSeq
  }

  /** The highest number that was ever written. */
  get lastWritten(): number {
    return this.#lastSeq - this.#queued
  }

  /** Frames that no stream has taken yet. */
  get queued(): number {
    return this.#queued
  }

  /** There are frames for the present stream, whether they were written to one before or not. */
  get hasNext(): boolean {
    return this.#next < this.#frames.length
  }

  get queuedBytes(): number {
    return this.#queuedBytes
  }

  /** A single frame always fits, however large. */
  hasRoom(size: number, isUrgent: boolean): boolean {
    const maxQueued = this.#bounds.maxQueued * (isUrgent ? URGENT_FRAMES : 1)
    const maxBytes = this.#bounds.maxQueuedBytes * (isUrgent ? URGENT_BYTES : 1)
    return this.#queued < maxQueued && (this.#queued === 0 || this.#queuedBytes + size <= maxBytes)
  }

  push(bytes: Buffer, onWritten: (() => void) | undefined): number {
    const seq = ++this.#lastSeq
    this.#frames.push({ seq, bytes, isWritten: false, onWritten, waiters: undefined })
    this.#queued++
    this.#queuedBytes += bytes.length
    return seq
  }

  /** The next frames to write: one, or as many as fit; none when too many are unacknowledged. */
  take(maxBytes: number): readonly Buffer[] {
    const taken: Buffer[] = []
    let size = 0
    for (let frame = this.#peek(); frame; frame = this.#peek()) {
      size += sizeInBatch(frame.bytes)
      if (taken.length > 0 && size > maxBytes) break
      taken.push(frame.bytes)
      this.#next++
      this.#inFlightBytes += frame.bytes.length
      if (!frame.isWritten) this.#written(frame)
    }
    return taken
  }

  /** Forgets frames up to this number, of those that were written to the present stream. */
  acknowledge(seq: number): void {
    while (this.#head < this.#next) {
      const frame = this.#frames[this.#head]
      if (frame === undefined || frame.seq > seq) break
      this.#head++
      this.#inFlightBytes -= frame.bytes.length
      if (frame.waiters) for (const waiter of frame.waiters) waiter.resolve()
    }
    const isEmpty = this.#head === this.#frames.length
    if (isEmpty || (this.#head >= COMPACT_AT && this.#head * 2 >= this.#frames.length)) this.#compact()
  }

  /** A new stream: the next to write is the first that the other side does not have. */
  rewind(peerReceived: number): void {
    this.#next = this.#frames.length - this.#queued
    this.acknowledge(peerReceived)
    this.#next = this.#head
    this.#inFlightBytes = 0
  }

  /** Settles when the frame is acknowledged; rejects when it was given up before, or never was. */
  async whenAcknowledged(seq: number): Promise<void> {
    if (seq <= this.acknowledged) return
    const frame = this.#frames[this.#head + seq - this.acknowledged - 1]
    if (!frame) throw new GloveboxError("CONNECTION_LOST", `There is no message ${seq}.`)
    await new Promise<void>((resolve, reject) => {
      frame.waiters ??= []
      frame.waiters.push({ resolve, reject })
    })
  }

  /** Gives up the frames that wait and do not fit; another takes the place and the number of each. */
  replaceLarger(maxBytes: number, replacement: (frame: Frame) => Buffer, error: GloveboxError): void {
    for (const frame of this.#frames.slice(this.#frames.length - this.#queued)) {
      if (frame.bytes.length <= maxBytes) continue
      const bytes = replacement(frame)
      this.#queuedBytes += bytes.length - frame.bytes.length
      frame.bytes = bytes
      for (const waiter of frame.waiters ?? []) waiter.reject(error)
    }
  }

  /** Empties the queue, rejects who waits, and numbers from 1 again. */
  reset(): readonly Frame[] {
    const frames = this.#frames.slice(this.#head)
    this.#frames = []
    this.#head = 0
    this.#next = 0
    this.#lastSeq = 0
    this.#queued = 0
    this.#queuedBytes = 0
    this.#inFlightBytes = 0
    for (const { isWritten, waiters = [] } of frames) {
      for (const waiter of waiters) waiter.reject(givenUp(isWritten))
    }
    return frames
  }

  #peek(): Frame | undefined {
    const inFlight = this.#next - this.#head
    if (inFlight >= WINDOW) return undefined
    if (inFlight > 0 && this.#inFlightBytes >= this.#bounds.maxQueuedBytes) return undefined
    return this.#frames[this.#next]
  }

  #written(frame: Frame): void {
    frame.isWritten = true
    this.#queued--
    this.#queuedBytes -= frame.bytes.length
    const { onWritten } = frame
    frame.onWritten = undefined
    onWritten?.()
  }

  #compact(): void {
    this.#frames.splice(0, this.#head)
    this.#next -= this.#head
    this.#head = 0
  }
}

function givenUp(isWritten: boolean): GloveboxError {
  return isWritten
    ? new GloveboxError(
        "CONNECTION_LOST",
        "The connection was lost before the other side said that it has the message.",
      )
    : new GloveboxError("HOST_UNAVAILABLE", "The message was not sent: there is no connection.")
}
