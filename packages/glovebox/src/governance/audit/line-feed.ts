import { type OpenFile, openFiles } from "./open-files.ts"
import { type AuditLine, readLines } from "./read-lines.ts"
import { type AuditRecord, openRecord } from "./record-line.ts"

/** A line, and the record in it when its hash is its own. */
export interface ReadLine extends Omit<AuditLine, "bytes"> {
  readonly record: AuditRecord | undefined
}

/** The lines of a log one by one. */
export class LineFeed implements AsyncDisposable {
  readonly #lines: AsyncGenerator<AuditLine, void>
  readonly #files: string[] = []

  constructor(log: string | readonly string[], signal: AbortSignal | undefined) {
    this.#lines = readLines(this.#noted(openFiles(log)), signal)
  }

  /** Those that were opened. */
  get files(): readonly string[] {
    return this.#files
  }

  async next(): Promise<ReadLine | undefined> {
    const { done, value } = await this.#lines.next()
    if (done === true || !value) return undefined
    const { bytes, ...place } = value
    return { ...place, record: place.isWhole ? openRecord(bytes) : undefined }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lines.return()
  }

  async *#noted(files: AsyncIterable<OpenFile>): AsyncGenerator<OpenFile, void> {
    for await (const file of files) {
      this.#files.push(file.path)
      yield file
    }
  }
}
