import { createHash } from "node:crypto"
import { constants } from "node:fs"
import { type FileHandle, lstat, open } from "node:fs/promises"
import { basename, dirname } from "node:path"
import { GloveboxError } from "../../core/glovebox-error.ts"
import { type AuditRecord, MAX_LINE_BYTES, openRecord } from "./record-line.ts"
import type { LogEvent } from "./own-records.ts"
import { syncFolder } from "./sync-folder.ts"
import { writeNew } from "./write-new.ts"

const BLOCK_BYTES = 64 * 1024
const NEWLINE = 10

/** The end of a log's file. */
interface Tail {
  readonly last: AuditRecord | undefined
  /** What comes after the last end of a line. */
  readonly torn: Buffer
}

/** The file that a log writes; what was written before `size` is never touched. */
export class LogFile {
  readonly #path: string
  readonly #handle: FileHandle
  #size: number

  private constructor(path: string, handle: FileHandle, size: number) {
    this.#path = path
    this.#handle = handle
    this.#size = size
  }

  /** Opens or makes it. */
  static async open(path: string): Promise<LogFile> {
    await checkRegular(path)
    const flags = constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0)
    const handle = await open(path, flags, 0o600)
    try {
      await syncFolder(dirname(path))
      return new LogFile(path, handle, (await handle.stat()).size)
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  /** How much of it is sure. */
  get size(): number {
    return this.#size
  }

  /** The last record, and whatever a writer that died left after it. */
  async tail(): Promise<Tail> {
    return readTail(this.#path, this.#handle, this.#size)
  }

  /** Puts what comes after the last end of a line into a file of its own. */
  async putAside(torn: Buffer, seq: number): Promise<LogEvent> {
    const sha256 = createHash("sha256").update(torn).digest("hex")
    const kept = `${this.#path}.torn-${seq}-${sha256.slice(0, 8)}`
    await writeNew(kept, torn)
    await syncFolder(dirname(this.#path))
    this.#size -= torn.length
    await this.restore()
    return { event: "torn-line", bytes: torn.length, sha256, keptAs: basename(kept) }
  }

  /** @throws AUDIT_LOG_BROKEN when somebody else wrote, cut, moved or removed it */
  async check(): Promise<void> {
    const [ours, named] = await Promise.all([this.#handle.stat(), lstat(this.#path).catch(() => undefined)])
    if (named?.ino !== ours.ino || named.dev !== ours.dev) throw foreign(this.#path, "was moved or removed")
    if (ours.size !== this.#size) throw foreign(this.#path, `has ${ours.size} bytes, not ${this.#size}`)
  }

  /** Resolves when the bytes are on the disk. */
  async append(bytes: Buffer): Promise<void> {
    let written = 0
    while (written < bytes.length) {
      const { bytesWritten } = await this.#handle.write(
        bytes,
        written,
        bytes.length - written,
        this.#size + written,
      )
      if (bytesWritten === 0) throw new Error("The file took no more bytes.")
      written += bytesWritten
    }
    await this.#handle.datasync()
    this.#size += bytes.length
  }

  /** Takes back what a failed write may have left. */
  async restore(): Promise<void> {
    const { size } = await this.#handle.stat()
    if (size < this.#size) throw foreign(this.#path, `has ${size} bytes, not ${this.#size}`)
    await this.#handle.truncate(this.#size)
    await this.#handle.sync()
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }
}

/** The last record of a file that is no longer written. */
export async function lastRecordOf(path: string): Promise<AuditRecord> {
  await checkRegular(path)
  const handle = await open(path, "r")
  try {
    const { last, torn } = await readTail(path, handle, (await handle.stat()).size)
    if (last && torn.length === 0) return last
    throw broken(path, "does not end with a record")
  } finally {
    await handle.close()
  }
}

export function broken(path: string, what: string): GloveboxError {
  return new GloveboxError(
    "AUDIT_LOG_BROKEN",
    `${path} ${what}. Nothing is appended to it: verify the log, and move all its files away to begin a new one.`,
  )
}

function foreign(path: string, what: string): GloveboxError {
  return broken(path, `${what}: somebody else changed it`)
}

async function checkRegular(path: string): Promise<void> {
  const stat = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined
    throw error
  })
  if (!stat || stat.isFile()) return
  const is = stat.isDirectory() ? "a folder" : stat.isSymbolicLink() ? "a link" : "not a regular file"
  throw new GloveboxError(
    "AUDIT_LOG_BROKEN",
    `${path} is ${is}, and a log is a file. Name a file, such as audit.jsonl.`,
  )
}

async function readTail(path: string, handle: FileHandle, size: number): Promise<Tail> {
  let bytes = Buffer.alloc(0)
  let start = size
  let end = -1
  let begin = -1
  // Backwards, until there is a whole line: a log may be large.
  while (start > 0 && begin === -1) {
    if (bytes.length > 2 * MAX_LINE_BYTES) throw broken(path, "ends with a line that is too long")
    const length = Math.min(BLOCK_BYTES + bytes.length, start)
    start -= length
    const block = Buffer.alloc(length)
    await handle.read(block, 0, length, start)
    bytes = Buffer.concat([block, bytes])
    end = bytes.lastIndexOf(NEWLINE)
    begin = end < 1 ? -1 : bytes.lastIndexOf(NEWLINE, end - 1)
  }
  const torn = Buffer.from(bytes.subarray(end + 1))
  if (end === -1) return { last: undefined, torn }
  const last = openRecord(bytes.subarray(begin + 1, end))
  if (!last) throw broken(path, "ends with a line that is not a record")
  return { last, torn }
}
