import type { Readable, Writable } from "node:stream"

/** What a channel gives; set once by the agent's side of it. */
export interface ChannelListener {
  onStdout(bytes: Buffer): void
  onStderr(bytes: Buffer): void
  /** Once: the sandbox ended, the connection went, or a listener threw. */
  onEnd(error: Error | undefined): void
}

/** The streams behind a channel. */
export interface ChannelStreams {
  readonly input: Writable
  readonly outputs: readonly ChannelOutput[]
  /** Calls back once there is nothing more to read. */
  onOver(callback: () => void): void
  /** Whether they keep the process alive. */
  ref(isNeeded: boolean): void
  /** Holds back what comes beside the outputs, or no longer. */
  hold?(isHeld: boolean): void
}

export interface ChannelOutput {
  readonly readable: Readable
  /** Gives what came to the listener, by stream. */
  readonly read: (chunk: Buffer, to: ChannelListener) => void
}

/** The standard streams of one sandbox's agent. */
export class Channel {
  readonly #streams: ChannelStreams
  #listener: ChannelListener | undefined
  #ended = false
  #isGathering = false
  #room: Promise<void> | undefined
  #error: Error | undefined

  constructor(streams: ChannelStreams) {
    this.#streams = streams
    streams.input.on("error", (error: Error) => this.#end(error))
    for (const output of streams.outputs) this.#read(output)
    streams.onOver(() => this.#end(undefined))
  }

  get ended(): boolean {
    return this.#ended
  }

  listen(listener: ChannelListener): void {
    this.#listener = listener
    if (this.#ended) listener.onEnd(this.#error)
    else this.resume()
  }

  /** Resolves when there is room for more; on an ended channel what is written is dropped. */
  write(bytes: Uint8Array): Promise<void> | undefined {
    const { input } = this.#streams
    if (this.#ended || input.destroyed || input.writableEnded) return undefined
    this.#gather()
    if (input.write(bytes)) return undefined
    this.#room ??= this.#whenRoom()
    return this.#room
  }

  /** The same for parts that belong together; nothing comes between them, and none is copied. */
  writeAll(parts: readonly Uint8Array[]): Promise<void> | undefined {
    let room: Promise<void> | undefined
    for (const part of parts) room = this.write(part)
    return room
  }

  /** Stops reading until `resume`, so that a writer in the sandbox waits. */
  pause(): void {
    if (this.#ended) return
    for (const { readable } of this.#streams.outputs) readable.pause()
    this.#streams.hold?.(true)
  }

  resume(): void {
    if (this.#ended) return
    for (const { readable } of this.#streams.outputs) readable.resume()
    this.#streams.hold?.(false)
  }

  /** Whether this connection keeps the process alive. */
  ref(isNeeded: boolean): void {
    // After the end it is whoever waits for the sandbox's who says so.
    if (!this.#ended) this.#streams.ref(isNeeded)
  }

  close(): void {
    this.#end(undefined)
  }

  /** Ends it because of what came over it. */
  fail(error: Error): void {
    this.#end(error)
  }

  #read({ readable, read }: ChannelOutput): void {
    readable.on("data", (chunk: Buffer) => {
      if (this.#ended || !this.#listener) return
      try {
        read(chunk, this.#listener)
      } catch (error) {
        this.#end(error as Error)
      }
    })
    readable.on("error", (error: Error) => this.#end(error))
    // Nothing is read before someone listens.
    readable.pause()
  }

  // One wait for all who write: a sandbox that does not read must not cost a listener for each.
  async #whenRoom(): Promise<void> {
    const { input } = this.#streams
    await new Promise<void>((resolve) => {
      const done = (): void => {
        input.off("drain", done)
        input.off("close", done)
        resolve()
      }
      input.on("drain", done)
      input.on("close", done)
    })
    this.#room = undefined
  }

  // What is written in one go travels in one packet.
  #gather(): void {
    if (this.#isGathering) return
    this.#isGathering = true
    this.#streams.input.cork()
    process.nextTick(() => {
      this.#isGathering = false
      this.#streams.input.uncork()
    })
  }

  #end(error: Error | undefined): void {
    if (this.#ended) return
    this.#ended = true
    this.#error = error
    this.#streams.input.destroy()
    for (const { readable } of this.#streams.outputs) readable.destroy()
    this.#listener?.onEnd(error)
  }
}
