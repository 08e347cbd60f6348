import { GloveboxError } from "../../../core/glovebox-error.ts"
import { abortable } from "../../../internal/abortable.ts"
import { decodeMessage, encodeMessage } from "../wire/codec.ts"
import type { Beat, WireMessage } from "../wire/wire-message.ts"
import { joinFrames, splitFrames } from "./frame-bytes.ts"
import { FrameQueue } from "./frame-queue.ts"
import { Heartbeat } from "./heartbeat.ts"
import type { AttachOptions, LinkOptions, SendOptions, Unacknowledged } from "./link-options.ts"
import { type LinkStream, dropStream } from "./link-stream.ts"
import { PartialFrame } from "./partial-frame.ts"
import { Receipts } from "./receipts.ts"

const DEFAULT_MAX_MESSAGE = 4 * 1024 * 1024
// Larger writes save nothing, and would keep beats waiting: over a slow line the other side would seem to be silent.
const MAX_WRITE = 64 * 1024
// Room for a beat and the tags around a frame.
const OVERHEAD = 64

/**
 * One numbered connection that outlives its streams; both ends have one. No I/O of its own: `attach` gives it a stream
 * that carries bytes. Frames of one tick go as one batch, a large one in parts. Acknowledgements go along with frames,
 * or alone soon after.
 *
 * `send` takes only the content and the `targets` of a message, so one that came over another link may be given as it
 * is. It throws QUEUE_FULL and MESSAGE_TOO_LARGE. Urgent frames (responses and notices, unless said otherwise) pass a
 * full queue; when the other side does not read at all, so that they pile up far beyond it, the link breaks: it detaches
 * with QUEUE_FULL, and only `reset` or `close` are of use then.
 *
 * To resume, each side detaches, tells the other its `received`, and attaches with what it was told. `attach` throws
 * CONNECTION_LOST when the two cannot continue.
 *
 * A plain link numbers nothing and resumes nothing: `whenReceived` means written, and notices are not sent.
 */
export class Link {
  readonly #options: LinkOptions
  readonly #queue: FrameQueue
  readonly #receipts = new Receipts(() => this.#flushSoon())
  readonly #heartbeat = new Heartbeat(
    (ping) => this.#receipts.ask(ping),
    () => this.detach(lost("Nothing was heard from the other side.")),
  )
  readonly #incoming: PartialFrame
  /** What is left of a large frame. */
  #outgoing: Buffer | undefined
  #stream: LinkStream | undefined
  #maxMessageBytes: number
  #flush: NodeJS.Immediate | undefined
  /** The stream's buffer is full. */
  #isBlocked = false
  /** Somebody was told that the queue is full. */
  #isAwaited = false
  #isBroken = false
  #isClosed = false

  constructor(options: LinkOptions) {
    this.#options = options
    this.#maxMessageBytes = options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE
    this.#queue = new FrameQueue(options)
    this.#incoming = new PartialFrame(options.maxReceivedBytes)
  }

  get isAttached(): boolean {
    return this.#stream !== undefined
  }

  /** The number of the last frame that came. */
  get received(): number {
    return this.#receipts.received
  }

  /** When the last ping was sent that was answered, on the clock of `performance.now`; 0 before the first. */
  get lastAnsweredPingSentAt(): number {
    return this.#heartbeat.lastAnsweredPingSentAt
  }

  /** Frames that wait to be written for the first time. */
  get queued(): number {
    return this.#queue.queued
  }

  get queuedBytes(): number {
    return this.#queue.queuedBytes
  }

  /** Goes on with this stream, and sends again what the other side does not have; a stream before is dropped. */
  attach(stream: LinkStream, peerReceived: number, options: AttachOptions = {}): void {
    if (this.#isClosed || this.#isBroken) throw lost("The link is closed.")
    const { acknowledged, lastWritten } = this.#queue
    const isPlain = this.#options.isPlain === true
    if (!isPlain && !(peerReceived >= acknowledged && peerReceived <= lastWritten)) {
      throw lost(
        `The other side says that it has ${peerReceived} messages; it can be ${acknowledged} to ${lastWritten}.`,
      )
    }
    this.#release("drop")
    this.#maxMessageBytes = options.maxMessageBytes ?? this.#maxMessageBytes
    this.#stream = stream
    this.#isBlocked = false
    if (!isPlain) {
      this.#queue.rewind(peerReceived)
      this.#giveUpTooLarge()
      this.#heartbeat.start(options.heartbeatMs ?? this.#options.heartbeatMs)
    }
    this.#listen(stream)
    this.#flushSoon()
  }

  /** Drops the stream; frames wait for the next one. */
  detach(cause?: unknown): void {
    this.#over("drop", cause)
  }

  /** The frame's number, which `whenReceived` takes. */
  send(message: WireMessage, options: SendOptions = {}): number {
    if (this.#isClosed) throw lost("The link is closed.")
    if (this.#options.isPlain && message.notice) return 0
    const bytes = this.#encode(message, options.content)
    if (bytes.length > this.#maxFrame) throw this.#tooLarge()
    const isUrgent = options.isUrgent ?? Boolean(message.response ?? message.notice)
    if (!this.#queue.hasRoom(bytes.length, isUrgent)) throw this.#full(isUrgent)
    const seq = this.#queue.push(bytes, options.onWritten)
    this.#flushSoon()
    return seq
  }

  /** Settles when the other side has the frame; rejects when the link was reset or closed before. */
  async whenReceived(seq: number, signal?: AbortSignal): Promise<void> {
    await abortable(this.#queue.whenAcknowledged(seq), signal)
  }

  /** Drops the stream and begins a new numbering; what was not acknowledged is given back, in order. */
  reset(): readonly Unacknowledged[] {
    this.#release("drop")
    this.#receipts.reset()
    this.#isBroken = false
    const frames = this.#queue.reset()
    return frames.map(({ seq, bytes, isWritten }) => ({ seq, message: decodeMessage(bytes), isWritten }))
  }

  /** Writes what the stream takes, ends it, and rejects all who wait. */
  close(): void {
    if (this.#isClosed) return
    this.#write()
    this.#isClosed = true
    this.#release("end")
    this.#queue.reset()
  }

  get #maxFrame(): number {
    return this.#maxMessageBytes - OVERHEAD
  }

  #encode({ request, response, cloudEvent, notice, targets }: WireMessage, content?: Buffer): Buffer {
    if (this.#options.isPlain) return content ?? encodeMessage({ request, response, cloudEvent })
    const seq = this.#queue.lastSeq + 1
    // Fields of protobuf messages may be joined like that.
    if (content) return Buffer.concat([content, encodeMessage({ targets, seq })])
    return encodeMessage({ request, response, cloudEvent, notice, targets, seq })
  }

  #listen(stream: LinkStream): void {
    const isCurrent = (): boolean => this.#stream === stream
    stream.on("data", (bytes) => {
      if (isCurrent()) this.#read(stream, bytes)
    })
    stream.on("drain", () => {
      if (!isCurrent()) return
      this.#isBlocked = false
      this.#write()
    })
    stream.on("error", (error) => {
      if (isCurrent()) this.#over("drop", error)
    })
    stream.on("end", () => {
      if (isCurrent()) this.#over("end", lost("The other side ended the stream."))
    })
    stream.on("close", () => {
      if (isCurrent()) this.#over("drop", lost("The stream was closed."))
    })
  }

  #read(stream: LinkStream, bytes: Buffer): void {
    this.#heartbeat.heard()
    let hasEvent = false
    try {
      if (this.#options.isPlain) {
        this.#options.onMessage(decodeMessage(bytes))
        return
      }
      splitFrames(bytes, (message) => {
        if (this.#take(message)) hasEvent = true
        // Whoever got the message may have closed the link; the rest of the batch was not received then.
        return this.#stream === stream
      })
      if (this.#stream !== stream) return
      this.#receipts.came(bytes.length, hasEvent && this.#options.acksEventsAtOnce === true)
    } catch (cause) {
      if (this.#stream === stream) this.#over("drop", cause)
    }
  }

  /** True when it brought an event. */
  #take(message: WireMessage): boolean {
    if (message.beat) this.#takeBeat(message.beat)
    const frame = message.part?.length ? this.#incoming.add(message.part, message.more === true) : message
    if (!(frame?.request ?? frame?.response ?? frame?.cloudEvent ?? frame?.notice)) return false
    if (this.#receipts.take(frame.seq ?? 0)) this.#options.onMessage(frame)
    return Boolean(frame.cloudEvent)
  }

  #takeBeat({ received = 0, ping = 0, pong = 0 }: Beat): void {
    if (received > this.#queue.acknowledged) {
      if (received > this.#queue.lastWritten) throw lost(`Message ${received} was never sent.`)
      this.#queue.acknowledge(received)
      // Otherwise each acknowledgement would be answered by one, alone and at once.
      if (this.#queue.hasNext) this.#flushSoon()
    }
    if (pong > 0) this.#heartbeat.answered(pong)
    if (ping > 0) this.#receipts.answer(ping)
  }

  #flushSoon(): void {
    if (!this.#stream || this.#isBlocked) return
    this.#flush ??= setImmediate(() => this.#write())
  }

  #write(): void {
    clearImmediate(this.#flush)
    this.#flush = undefined
    while (this.#stream && !this.#isBlocked) {
      const bytes = this.#options.isPlain ? this.#nextPlain() : this.#nextBatch()
      if (bytes.length === 0) break
      this.#isBlocked = !this.#stream.write(bytes)
    }
    if (this.#isAwaited && this.#queue.hasRoom(0, false)) {
      this.#isAwaited = false
      this.#options.onRoom?.()
    }
  }

  #nextPlain(): Buffer {
    const bytes = joinFrames(this.#queue.take(0), undefined)
    this.#queue.acknowledge(this.#queue.lastWritten)
    return bytes
  }

  #nextBatch(): Buffer {
    const size = Math.min(MAX_WRITE, this.#maxFrame)
    const frames = this.#outgoing ? [] : this.#queue.take(size)
    const beat = this.#receipts.next()
    const large = this.#outgoing ?? (frames[0] && frames[0].length > size ? frames[0] : undefined)
    if (!large) return joinFrames(frames, beat)
    this.#outgoing = large.length > size ? large.subarray(size) : undefined
    return encodeMessage({ part: large.subarray(0, size), more: large.length > size, beat })
  }

  #tooLarge(): GloveboxError {
    return new GloveboxError(
      "MESSAGE_TOO_LARGE",
      `The message is too large: the other side takes ${this.#maxMessageBytes} bytes. Raise maxMessageBytes on both.`,
    )
  }

  #giveUpTooLarge(): void {
    const error = this.#tooLarge()
    this.#queue.replaceLarger(
      this.#maxFrame,
      ({ seq, bytes }) => {
        this.#options.onTooLarge?.(decodeMessage(bytes), error)
        return encodeMessage({ notice: {}, seq })
      },
      error,
    )
  }

  #full(isUrgent: boolean): GloveboxError {
    const error = new GloveboxError(
      "QUEUE_FULL",
      `${this.queued} messages (${this.queuedBytes} bytes) wait to be sent, and no more may. Try again later.`,
    )
    this.#isAwaited = true
    if (isUrgent) {
      this.#isBroken = true
      this.#over("drop", error)
    }
    return error
  }

  #over(how: "drop" | "end", cause: unknown): void {
    if (!this.#stream) return
    this.#release(how)
    this.#options.onDetached(cause)
  }

  #release(how: "drop" | "end"): void {
    this.#heartbeat.stop()
    this.#receipts.restart()
    this.#incoming.clear()
    this.#outgoing = undefined
    clearImmediate(this.#flush)
    this.#flush = undefined
    const stream = this.#stream
    this.#stream = undefined
    if (stream && how === "end") stream.end()
    else if (stream) dropStream(stream)
  }
}

function lost(message: string): GloveboxError {
  return new GloveboxError("CONNECTION_LOST", message)
}
