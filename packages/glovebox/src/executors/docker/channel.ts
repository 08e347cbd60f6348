import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { EngineStream } from "./engine-stream.ts"

/** What a channel gives; set once by the agent's side of it. */
export interface ChannelListener {
  onStdout(bytes: Buffer): void
  onStderr(bytes: Buffer): void
  /** Once: the container ended, the engine went, or a listener threw. */
  onEnd(error: Error | undefined): void
}

/** The attached streams of one container. */
export class Channel {
  readonly #socket: Duplex
  #listener: ChannelListener | undefined
  #ended = false
  #isGathering = false
  #room: Promise<void> | undefined
  #error: Error | undefined

  constructor(socket: Duplex) {
    this.#socket = socket
    const stream = new EngineStream((name, bytes) => {
      if (name === "stdout") this.#listener?.onStdout(bytes)
      else this.#listener?.onStderr(bytes)
    })
    socket.on("data", (chunk: Buffer) => {
      if (this.#ended) return
      try {
        stream.push(chunk)
      } catch (error) {
        this.#end(error as Error)
      }
    })
    socket.on("error", (error: Error) => this.#end(error))
    socket.on("end", () => this.#end(undefined))
    socket.on("close", () => this.#end(undefined))
    // Nothing is read before someone listens.
    socket.pause()
  }

  get ended(): boolean {
    return this.#ended
  }

  listen(listener: ChannelListener): void {
    this.#listener = listener
    if (this.#ended) listener.onEnd(this.#error)
    else this.#socket.resume()
  }

  /** Resolves when there is room for more; on an ended channel what is written is dropped. */
  write(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#ended || this.#socket.destroyed || this.#socket.writableEnded) return undefined
    this.#gather()
    if (this.#socket.write(bytes)) return undefined
    this.#room ??= this.#whenRoom()
    return this.#room
  }

  // One wait for all who write: a container that does not read must not cost a listener for each.
  async #whenRoom(): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#socket.off("drain", done)
        this.#socket.off("close", done)
        resolve()
      }
      this.#socket.on("drain", done)
      this.#socket.on("close", done)
    })
    this.#room = undefined
  }

  // What is written in one go travels in one packet.
  #gather(): void {
    if (this.#isGathering) return
    this.#isGathering = true
    this.#socket.cork()
    process.nextTick(() => {
      this.#isGathering = false
      this.#socket.uncork()
    })
  }

  /** Stops reading until `resume`, so that a writer in the container waits. */
  pause(): void {
    if (!this.#ended) this.#socket.pause()
  }

  resume(): void {
    if (!this.#ended) this.#socket.resume()
  }

  /** Whether this connection keeps the process alive. */
  ref(isNeeded: boolean): void {
    const socket = this.#socket as Partial<Socket>
    if (isNeeded) socket.ref?.()
    else socket.unref?.()
  }

  close(): void {
    this.#end(undefined)
  }

  /** Ends it because of what came over it. */
  fail(error: Error): void {
    this.#end(error)
  }

  #end(error: Error | undefined): void {
    if (this.#ended) return
    this.#ended = true
    this.#error = error
    this.#socket.destroy()
    this.#listener?.onEnd(error)
  }
}
