import { GloveboxError } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"

/** Where Console writes: a stream of the process, a file, or what else can be written to. */
export type ConsoleStream = NodeJS.WritableStream & { readonly isTTY?: boolean }

/** A stream whose reader may be slow, or leave. */
export class ConsoleOutput implements Disposable {
  readonly #stream: ConsoleStream
  readonly #gone = new AbortController()
  readonly #onError = (error: unknown): void => this.#leave(error)
  readonly #onClose = (): void => this.#leave(undefined)
  #written: Promise<void> = Promise.resolve()

  constructor(stream: ConsoleStream) {
    this.#stream = stream
    // Without a listener a reader that leaves, as `head` does, would end the process with a stack trace.
    stream.on("error", this.#onError)
    stream.on("close", this.#onClose)
    if (!stream.writable) this.#leave(undefined)
  }

  /** Aborted when nobody reads any more. */
  get gone(): AbortSignal {
    return this.#gone.signal
  }

  /** Resolves when there is room for more. */
  async write(text: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (!this.put(text)) await abortable(this.#written, signal)
  }

  /** Resolves when everything has left the process. */
  async flush(signal: AbortSignal): Promise<void> {
    await abortable(this.#written, signal)
  }

  /** Writes without waiting; false if there is no room for more. */
  put(text: string): boolean {
    if (text === "" || this.gone.aborted) return true
    let hasRoom = false
    // Called also if the stream is destroyed, when it would never drain.
    this.#written = new Promise((resolve) => {
      hasRoom = this.#stream.write(text, (error) => {
        if (error) this.#leave(error)
        resolve()
      })
    })
    return hasRoom
  }

  /** Gives the stream back. */
  [Symbol.dispose](): void {
    this.#stream.off("close", this.#onClose)
    void this.#stopListening()
  }

  async #stopListening(): Promise<void> {
    await this.#written
    // The error that a failed write told of is still to be emitted.
    if (!this.gone.aborted) this.#stream.off("error", this.#onError)
  }

  #leave(cause: unknown): void {
    this.#gone.abort(
      new GloveboxError(
        "RUN_LEFT",
        "Nobody reads the output any more, so the run was ended.",
        cause === undefined ? undefined : { cause },
      ),
    )
  }
}
