import { once } from "node:events"
import { styleText } from "node:util"
import { safeText, visibleText } from "../internal/safe-text.ts"

type Stream = NodeJS.WritableStream & { readonly isTTY?: boolean }
type Style = Parameters<typeof styleText>[0]

/** A stream of the process, whose reader may be slow, or leave. */
export class OutputPipe {
  readonly #stream: Stream
  readonly #gone = new AbortController()

  constructor(stream: Stream) {
    this.#stream = stream
    // Without a listener a reader that leaves, as `head` does, would end the process with a stack trace.
    stream.on("error", (error) => this.#gone.abort(error))
  }

  /** Aborted when nobody reads any more. */
  get gone(): AbortSignal {
    return this.#gone.signal
  }

  get isTerminal(): boolean {
    return this.#stream.isTTY === true && process.env["TERM"] !== "dumb"
  }

  put(text: string): void {
    if (!this.gone.aborted) this.#stream.write(text)
  }

  /** What code printed: as it is for a program, without what a terminal would act on for a person. */
  async writeOutput(
    { text, bytes }: { readonly text: string; readonly bytes: Uint8Array },
    signal?: AbortSignal,
  ): Promise<void> {
    await this.write(this.#stream.isTTY === true ? safeText(text) : bytes, signal)
  }

  /** What a model said: as it is for a program; a person sees also what is hidden in it. */
  async writeWords(text: string, signal?: AbortSignal): Promise<void> {
    await this.write(this.#stream.isTTY === true ? visibleText(text) : text, signal)
  }

  /** Resolves when there is room for more; the text of a reader that left is dropped. */
  async write(text: string | Uint8Array, signal?: AbortSignal): Promise<void> {
    if (this.gone.aborted || this.#stream.write(text)) return
    const given = signal ? AbortSignal.any([signal, this.gone]) : this.gone
    try {
      await once(this.#stream, "drain", { signal: given })
    } catch {
      signal?.throwIfAborted()
    }
  }

  /** The text in colour where a person sees it and wants it. */
  style(style: Style, text: string): string {
    return this.isTerminal && !process.env["NO_COLOR"]
      ? styleText(style, text, { validateStream: false })
      : text
  }
}
