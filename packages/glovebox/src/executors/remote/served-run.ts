import { setImmediate } from "node:timers/promises"
import { GloveboxError } from "../../core/index.ts"
import { watchAbort } from "../../internal/watch-abort.ts"
import { ByteQueue } from "./byte-queue.ts"
import { type Frame, writeFrame } from "./frame.ts"
import { CHUNK_BYTES } from "./messages.ts"

// Beyond this the run waits for its reader.
const MOST_UNREAD = 2 * CHUNK_BYTES

export interface ServedRunOptions {
  /** Does the work; `write` resolves when there is room for more. */
  readonly work: (write: (frame: Frame) => Promise<void>, signal: AbortSignal) => Promise<void>
  /** How long the run goes on when nobody asks for it. */
  readonly leaseMs: number
  /** How long it may be wanted without being read: whoever keeps it takes a place from others. */
  readonly unreadMs: number
  /** Called once, when the run has ended and nobody will read more of it. */
  readonly onOver: () => void
}

export interface RunChunk {
  readonly seq: number
  readonly data: string
  readonly end: boolean
}

/** One run at the far end: it is read chunk by chunk, and ends when nobody reads. */
export class ServedRun {
  readonly #options: ServedRunOptions
  readonly #unread = new ByteQueue()
  readonly #abort = new AbortController()
  readonly #lease: NodeJS.Timeout
  readonly #done: Promise<void>
  #end: { readonly error?: unknown; readonly failed: boolean } | undefined
  #wakeReader: (() => void) | undefined
  #wakeWriter: (() => void) | undefined
  #nextSeq = 0
  #readAt = performance.now()
  #isOver = false

  constructor(options: ServedRunOptions) {
    this.#options = options
    this.#lease = setTimeout(() => this.#expire(), options.leaseMs).unref()
    this.#done = this.#work()
  }

  /** The next chunk; waits a while for something to be there. */
  async read(seq: number, waitMs: number, signal: AbortSignal): Promise<RunChunk> {
    if (this.#wakeReader || seq !== this.#nextSeq) {
      throw new GloveboxError("MESSAGE_INVALID", "The chunks of a run are read one after the other.")
    }
    this.#nextSeq += 1
    this.#readAt = performance.now()
    const unwatch = watchAbort(signal, () => this.#drop(unwanted()))
    try {
      if (this.#unread.length === 0 && !this.#end) await this.#change(waitMs)
      return this.#take(seq)
    } finally {
      unwatch()
      this.#readAt = performance.now()
      this.keep()
    }
  }

  /** It is wanted, though nobody reads just now. */
  keep(): void {
    const isUnread = performance.now() - this.#readAt > this.#options.unreadMs
    if (!this.#isOver && !isUnread) this.#lease.refresh()
  }

  /** Ends it, and waits for that. */
  async cancel(reason: GloveboxError = unwanted()): Promise<void> {
    this.#drop(reason)
    await this.#done
  }

  async #work(): Promise<void> {
    try {
      await this.#options.work((frame) => this.#write(frame), this.#abort.signal)
      this.#end = { failed: false }
    } catch (error) {
      this.#end = { failed: true, error }
    }
    this.#wakeReader?.()
    if (this.#abort.signal.aborted) this.#finish()
  }

  async #write(frame: Frame): Promise<void> {
    this.#abort.signal.throwIfAborted()
    for (const part of writeFrame(frame)) this.#unread.push(part)
    this.#wakeReader?.()
    if (this.#unread.length < MOST_UNREAD) return
    await new Promise<void>((resolve) => {
      this.#wakeWriter = resolve
    })
    this.#wakeWriter = undefined
    this.#abort.signal.throwIfAborted()
  }

  #take(seq: number): RunChunk {
    const bytes = this.#unread.take(CHUNK_BYTES)
    if (this.#unread.length < MOST_UNREAD) this.#wakeWriter?.()
    const isLast = this.#unread.length === 0 && this.#end !== undefined
    if (isLast && this.#end?.failed === true) {
      // First all that came before the failure, then the failure.
      if (bytes.length === 0) {
        this.#finish()
        throw this.#end.error
      }
      return { seq, data: bytes.toString("base64"), end: false }
    }
    if (isLast) this.#finish()
    return { seq, data: bytes.toString("base64"), end: isLast }
  }

  async #change(waitMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.#wakeReader = resolve
      timer = setTimeout(resolve, waitMs)
    })
    // With the last frame goes the end, which comes at once after it.
    await setImmediate()
    this.#wakeReader = undefined
    clearTimeout(timer)
  }

  #expire(): void {
    if (this.#wakeReader) this.#lease.refresh()
    else this.#drop(unwanted())
  }

  #drop(reason: GloveboxError): void {
    this.#abort.abort(reason)
    this.#wakeWriter?.()
    if (this.#end) this.#finish()
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#lease)
    this.#options.onOver()
  }
}

function unwanted(): GloveboxError {
  return new GloveboxError(
    "EXECUTOR_STOPPED",
    "The run was ended: its client no longer wanted it, or was gone.",
  )
}
