import { openSync, readFileSync, writeSync } from "node:fs"

/** One thing that happened in one of the processes of a test. */
export interface Happening {
  /** Nanoseconds on the machine's own clock, which is the same for all processes. */
  readonly at: number
  /** Another name after each restart. */
  readonly worker: string
  readonly what: "begin" | "born" | "continued" | "end" | "gone" | "killed" | "sent" | "settled" | "stopped"
  readonly agent?: string
  /** Of an agent: another one each time it is built. */
  readonly life?: string
  /** Of a message. */
  readonly id?: string
  /** How a send ended: "ok", or the code of its error. */
  readonly code?: string
}

/** A file that all processes of a test append to; a line is whole, whenever its writer is killed. */
export class Recorder {
  readonly #file: number
  readonly #worker: string

  constructor(path: string, worker: string) {
    this.#file = openSync(path, "a")
    this.#worker = worker
  }

  write(what: Happening["what"], fields: Partial<Happening> = {}): void {
    const at = Number(process.hrtime.bigint())
    writeSync(this.#file, `${JSON.stringify({ at, worker: this.#worker, what, ...fields })}\n`)
  }
}

export function readRecord(path: string): readonly Happening[] {
  const lines = readFileSync(path, "utf8").split("\n").slice(0, -1)
  return lines.map((line) => JSON.parse(line) as Happening).toSorted((one, other) => one.at - other.at)
}
