import { randomUUID } from "node:crypto"
import { GloveboxError } from "../../core/index.ts"
import type { CodeBlock } from "../code-block.ts"
import type { ExecutionEvent } from "../execution-event.ts"
import { type FarEnd, isGone, withoutHaste } from "./far-end.ts"
import { FrameReader } from "./frame-reader.ts"
import {
  ExecutorAck,
  ExecutorCancel,
  ExecutorChunk,
  ExecutorKeep,
  ExecutorRead,
  ExecutorRun,
} from "./messages.ts"
import { EventReader } from "./read-event.ts"
import { uploadBody } from "./upload-body.ts"
import type { EventChoice } from "./write-event.ts"

const KEEP_MS = 5_000
const CANCEL_MS = 5_000

export interface RemoteRunOptions {
  readonly farEnd: FarEnd
  readonly instance: string
  readonly blocks: readonly CodeBlock[]
  readonly events: EventChoice
  readonly maxResultBytes: number
  readonly signal: AbortSignal
}

type Chunk = ReturnType<(typeof ExecutorChunk)["parse"]>

/** The executor that was described is gone, and nothing was run. */
export class InstanceGone extends Error {}

/** One run as its client sees it: sends the code, and reads chunk by chunk what comes of it. */
export class RemoteRun {
  readonly #options: RemoteRunOptions
  readonly #id = randomUUID()
  readonly #frames: FrameReader
  readonly #events: EventReader
  #isOver = false
  #isAsking = false

  constructor(options: RemoteRunOptions) {
    this.#options = options
    this.#frames = new FrameReader(options.maxResultBytes)
    this.#events = new EventReader(options.blocks.length)
  }

  async *events(): AsyncGenerator<ExecutionEvent, void, undefined> {
    // A reader may take its time over an event; the far end must not take it for gone.
    const keep = setInterval(() => this.#keep(), KEEP_MS).unref()
    try {
      let finished: ExecutionEvent | undefined
      let chunk = await this.#begin()
      for (;;) {
        for (const event of this.#read(chunk)) {
          // Told when the far end has let go of the run, which it may be about to wait for.
          if (event.type === "finished") finished = event
          else yield event
          // What came before it was cancelled is not told after.
          this.#options.signal.throwIfAborted()
        }
        if (chunk.end) break
        chunk = await this.#next(chunk)
      }
      this.#isOver = true
      if (!this.#frames.isWhole || !finished) throw invalid("it ended before its end")
      yield finished
    } catch (error) {
      if (isGone(error)) this.#isOver = true
      throw error
    } finally {
      clearInterval(keep)
      if (!this.#isOver) await this.#cancel()
    }
  }

  async #begin(): Promise<Chunk> {
    const { farEnd, instance, blocks, events, signal } = this.#options
    const list = blocks.map(({ code, language, file }) => ({ code, language, file }))
    const body = Buffer.from(JSON.stringify({ blocks: list }))
    const last = await uploadBody(farEnd, this.#id, body, signal)
    const chunk = await this.#ask(ExecutorRun({ ...last, instance, events, waitMs: farEnd.waitMs }), 0)
    if (chunk.instance === instance) return chunk
    this.#isOver = true
    throw new InstanceGone()
  }

  async #next({ seq }: Chunk): Promise<Chunk> {
    const { farEnd, signal } = this.#options
    const askedAt = performance.now()
    const read = ExecutorRead({ id: this.#id, seq: seq + 1, waitMs: farEnd.waitMs })
    const chunk = await this.#ask(read, seq + 1)
    if (chunk.data === "" && !chunk.end) await withoutHaste(askedAt, signal)
    return chunk
  }

  async #ask(message: Parameters<FarEnd["ask"]>[0], seq: number): Promise<Chunk> {
    const { farEnd, signal } = this.#options
    signal.throwIfAborted()
    this.#isAsking = true
    try {
      const chunk = await farEnd.ask(message, { expect: ExecutorChunk, signal })
      if (chunk.seq === seq) return chunk
      throw invalid("its chunks are not in order")
    } finally {
      this.#isAsking = false
    }
  }

  *#read({ data }: Chunk): Generator<ExecutionEvent, void, undefined> {
    this.#frames.push(Buffer.from(data, "base64"))
    for (;;) {
      const next = this.#frames.next()
      if (!next) return
      const event = this.#events.read(next.frame)
      if (!event) continue
      // Nobody keeps these but the one who reads them.
      if (event.type !== "artifact" && event.type !== "finished") this.#frames.giveBack(next.size)
      yield event
    }
  }

  #keep(): void {
    if (this.#isAsking || this.#isOver) return
    const ask = { expect: ExecutorAck, signal: this.#options.signal }
    // If the run is gone, whoever reads on will hear of it.
    this.#options.farEnd.ask(ExecutorKeep({ id: this.#id }), ask).catch(() => {})
  }

  /** Ends the run there; it waits for that, because code that was cancelled should not run on. */
  async #cancel(): Promise<void> {
    const ask = { expect: ExecutorAck, timeoutMs: CANCEL_MS }
    // Where it cannot be told, it ends because nobody reads it.
    await this.#options.farEnd.ask(ExecutorCancel({ id: this.#id }), ask).catch(() => {})
  }
}

function invalid(what: string): GloveboxError {
  return new GloveboxError("REPLY_INVALID", `The run cannot be read: ${what}.`)
}
