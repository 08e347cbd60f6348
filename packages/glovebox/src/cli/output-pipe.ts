import { once } from "node:events"
import { styleText } from "node:util"
import { jsonLine, safeText, visibleText } from "../internal/safe-text.ts"
import { OutputRedaction } from "./output-redaction.ts"

type Stream = NodeJS.WritableStream & { readonly isTTY?: boolean }
type Style = Parameters<typeof styleText>[0]

/** A stream of the process, whose reader may be slow, or leave. No text passes with a secret in it. */
export class OutputPipe {
  readonly #stream: Stream
  readonly #redaction: OutputRedaction
  readonly #gone = new AbortController()

  constructor(stream: Stream, redaction: OutputRedaction = new OutputRedaction()) {
    this.#stream = stream
    this.#redaction = redaction
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
    this.putClean(this.#redaction.text(text))
  }

  /** What has no secrets any more. */
  putClean(text: string): void {
    if (!this.gone.aborted) this.#stream.write(text)
  }

  /** The stream itself, for whoever draws on it; text that is written passes as here. */
  get cleanStream(): Stream {
    const stream = this.#stream
    const write = (text: string, done?: (error?: Error | null) => void): boolean =>
      stream.write(this.#redaction.text(text), done)
    return new Proxy(stream, {
      get: (_, key) => {
        if (key === "write") return write
        const value: unknown = Reflect.get(stream, key)
        return typeof value === "function" ? value.bind(stream) : value
      },
    })
  }

  /**
   * What code printed: as it is for a program, without what a terminal would act on for a person. Secrets were taken out
   * where it came from: here two pieces may have one between them.
   */
  async writeOutput(
    { text, bytes }: { readonly text: string; readonly bytes: Uint8Array },
    signal?: AbortSignal,
  ): Promise<void> {
    await this.#write(this.#stream.isTTY === true ? safeText(text) : bytes, signal)
  }

  /** What a model said: as it is for a program; a person sees also what is hidden in it. */
  async writeWords(text: string, signal?: AbortSignal): Promise<void> {
    await this.write(this.#stream.isTTY === true ? visibleText(text) : text, signal)
  }

  /** Data as a line of JSON. */
  async writeJson(value: unknown, signal?: AbortSignal): Promise<void> {
    await this.#write(`${jsonLine(this.#redaction.json(value))}\n`, signal)
  }

  /** Resolves when there is room for more; the text of a reader that left is dropped. */
  async write(text: string, signal?: AbortSignal): Promise<void> {
    await this.#write(this.#redaction.text(text), signal)
  }

  async #write(text: string | Uint8Array, signal?: AbortSignal): Promise<void> {
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
