import type { Socket } from "node:net"
import type { Readable } from "node:stream"
import { GloveboxError } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"

/** Reads one line from a pipe; what comes behind it, or what was read when the signal aborts, is left for the next one. */
export async function readPipedLine(input: Readable, signal: AbortSignal): Promise<string> {
  if (isOver(input)) throw inputEnded()
  const line = new PipedLine(input)
  try {
    await abortable(line.read(), signal)
    return line.text
  } catch (error) {
    line.putBack()
    throw error
  } finally {
    line.leave()
  }
}

/** One line from a pipe, which rests before and after it, or the process would wait for input that nobody asks for. */
class PipedLine {
  readonly #input: Readable
  readonly #chunks: Buffer[] = []
  #unlisten: (() => void)[] = []

  constructor(input: Readable) {
    this.#input = input
  }

  get text(): string {
    return Buffer.concat(this.#chunks)
      .toString("utf8")
      .replace(/\r?\n?$/, "")
  }

  async read(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#on("data", (chunk) => {
        if (this.#take(Buffer.from(chunk as Buffer | string))) resolve()
      })
      this.#on("end", () => resolve())
      this.#on("close", () => resolve())
      this.#on("error", reject)
      this.#keepAlive(true)
      this.#input.resume()
    })
    // A last line need not end as the others.
    if (this.#chunks.length === 0) throw inputEnded()
  }

  /** What was read of a line that nobody waits for is the next one's. */
  putBack(): void {
    this.leave()
    if (this.#chunks.length > 0 && !isOver(this.#input)) this.#input.unshift(Buffer.concat(this.#chunks))
  }

  leave(): void {
    for (const unlisten of this.#unlisten) unlisten()
    this.#unlisten = []
    this.#input.pause()
    this.#keepAlive(false)
  }

  /** Whether the process waits for the pipe: bytes that were put back make it read on, also when it is paused. */
  #keepAlive(isAwaited: boolean): void {
    const { ref, unref } = this.#input as Partial<Pick<Socket, "ref" | "unref">>
    ;(isAwaited ? ref : unref)?.call(this.#input)
  }

  #on(event: string, listener: (value: unknown) => void): void {
    this.#input.on(event, listener)
    this.#unlisten.push(() => this.#input.off(event, listener))
  }

  /** Keeps the bytes up to the end of the line, and says whether it has come. */
  #take(bytes: Buffer): boolean {
    const end = bytes.indexOf("\n") + 1
    this.#chunks.push(end === 0 ? bytes : bytes.subarray(0, end))
    if (end === 0) return false
    // At once: what is behind it is the next one's.
    this.leave()
    if (end < bytes.length) this.#input.unshift(bytes.subarray(end))
    return true
  }
}

function isOver(input: Readable): boolean {
  return input.readableEnded || input.destroyed
}

/** Nobody can be asked any more. */
export function inputEnded(): GloveboxError {
  return new GloveboxError(
    "INPUT_ENDED",
    "There is nobody to answer: the input has ended. Run it at a terminal, or pass input.",
  )
}
