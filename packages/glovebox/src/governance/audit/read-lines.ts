import type { FileHandle } from "node:fs/promises"
import type { OpenFile } from "./open-files.ts"
import { MAX_LINE_BYTES } from "./record-line.ts"

const CHUNK_BYTES = 256 * 1024
const NEWLINE = 10

/** A line of a file, without its end. */
export interface AuditLine {
  readonly file: string
  /** From 1, in its file. */
  readonly number: number
  /** Empty when it is too long. */
  readonly bytes: Buffer
  /** Whether it has an end; only the last of a file may have none. */
  readonly isWhole: boolean
}

/** Cuts the bytes of a file into lines as they come. */
export class LineCutter {
  readonly #file: string
  #rest: Buffer[] = []
  #restBytes = 0
  #number = 0

  constructor(file: string) {
    this.#file = file
  }

  /** The lines that end in this chunk. */
  *cut(chunk: Buffer): Generator<AuditLine, void> {
    let from = 0
    for (let to = chunk.indexOf(NEWLINE); to !== -1; to = chunk.indexOf(NEWLINE, from)) {
      yield this.#line(chunk.subarray(from, to), true)
      from = to + 1
    }
    const rest = chunk.subarray(from)
    this.#restBytes += rest.length
    // What is too long to be a record is not kept.
    if (this.#restBytes > MAX_LINE_BYTES) this.#rest = []
    else if (rest.length > 0) this.#rest.push(Buffer.from(rest))
  }

  /** What came after the last end. */
  *rest(): Generator<AuditLine, void> {
    if (this.#restBytes > 0) yield this.#line(Buffer.alloc(0), false)
  }

  #line(end: Buffer, isWhole: boolean): AuditLine {
    const isTooLong = this.#restBytes + end.length > MAX_LINE_BYTES
    const bytes = isTooLong
      ? Buffer.alloc(0)
      : this.#restBytes === 0
        ? end
        : Buffer.concat([...this.#rest, end])
    this.#rest = []
    this.#restBytes = 0
    this.#number += 1
    return { file: this.#file, number: this.#number, bytes, isWhole }
  }
}

/** The bytes of an open file from where the last call ended, to where it ends now. */
export async function* readChunks(
  handle: FileHandle,
  position: { offset: number },
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer, void> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  for (;;) {
    signal?.throwIfAborted()
    const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, position.offset)
    if (bytesRead === 0) return
    position.offset += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

/** The lines of files, one after the other; never more than one chunk and one line in memory. A line holds until the next. */
export async function* readLines(
  files: AsyncIterable<OpenFile>,
  signal: AbortSignal | undefined,
): AsyncGenerator<AuditLine, void> {
  for await (const { path, handle } of files) {
    const cutter = new LineCutter(path)
    for await (const chunk of readChunks(handle, { offset: 0 }, signal)) yield* cutter.cut(chunk)
    yield* cutter.rest()
  }
}
