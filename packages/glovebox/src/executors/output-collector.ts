import { HeadTail } from "./head-tail.ts"
import { incompleteEnd } from "./utf8-boundary.ts"

/** Bytes that a run wrote to one of its two streams. */
export interface OutputChunk {
  readonly stream: "stdout" | "stderr"
  readonly bytes: Uint8Array
}

/** What a run wrote, as text; invalid UTF-8 is U+FFFD. */
export interface CollectedOutput {
  /** Both streams in order of arrival. */
  readonly output: string
  readonly stdout: string
  readonly stderr: string
  /** Whether something was left out of `output`, and so perhaps of the others. */
  readonly truncated: boolean
  /** All that was written, also what was left out. */
  readonly bytes: number
}

const EMPTY = new Uint8Array()

/** Gathers both streams of a run; of more than the limit, it keeps the first and the last half, for each text. */
export class OutputCollector {
  readonly #output: HeadTail
  readonly #streams: { readonly stdout: HeadTail; readonly stderr: HeadTail }
  // The beginning of a character whose rest has not come: the other stream must not come between.
  readonly #held: Record<OutputChunk["stream"], Uint8Array> = { stdout: EMPTY, stderr: EMPTY }

  constructor(limitBytes: number) {
    this.#output = new HeadTail(limitBytes)
    this.#streams = { stdout: new HeadTail(limitBytes), stderr: new HeadTail(limitBytes) }
  }

  push({ stream, bytes }: OutputChunk): void {
    this.#streams[stream].push(bytes)
    const held = this.#held[stream]
    const pending = held.length === 0 ? bytes : Buffer.concat([held, bytes])
    const whole = pending.length - incompleteEnd(pending)
    if (whole === pending.length) {
      this.#output.push(pending)
      this.#held[stream] = EMPTY
      return
    }
    this.#output.push(pending.subarray(0, whole))
    this.#held[stream] = Uint8Array.from(pending.subarray(whole))
  }

  /** What came; ask when both streams have ended. */
  result(): CollectedOutput {
    for (const stream of ["stdout", "stderr"] as const) {
      this.#output.push(this.#held[stream])
      this.#held[stream] = EMPTY
    }
    return {
      output: this.#output.text(),
      stdout: this.#streams.stdout.text(),
      stderr: this.#streams.stderr.text(),
      truncated: this.#output.truncated,
      bytes: this.#output.bytes,
    }
  }
}
