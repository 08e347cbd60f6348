import { resolve } from "node:path"
import { GloveboxError } from "../../core/glovebox-error.ts"
import { abortable } from "../../internal/abortable.ts"
import { watchAbort } from "../../internal/watch-abort.ts"
import type { AuditPosition } from "./audit-head.ts"
import { type AuditLogOptions, type AuditLogSettings, readAuditLogOptions } from "./audit-log-options.ts"
import type { AuditReceipt, ChainEntry } from "./chain-draft.ts"
import { LogWriter } from "./log-writer.ts"
import { prepareEntry } from "./prepare-entry.ts"
import type { AuditEntry } from "./record-kinds.ts"

export interface AppendOptions {
  /** A record that is being written already is written. */
  readonly signal?: AbortSignal | undefined
}

interface Waiting {
  readonly entry: ChainEntry
  readonly resolve: (receipt: AuditReceipt) => void
  readonly reject: (error: unknown) => void
}

/** An append-only, hash-chained log of what agents did. The first `append`, or `open`, takes its file. */
export class AuditLog implements AsyncDisposable {
  readonly #settings: AuditLogSettings
  readonly #closing = new AbortController()
  #writer: LogWriter | undefined
  #opening: Promise<LogWriter> | undefined
  #waiting: Waiting[] = []
  #flushing: Promise<void> | undefined
  #closed: Promise<void> | undefined

  constructor(options: AuditLogOptions) {
    const settings = readAuditLogOptions(options)
    this.#settings = { ...settings, path: resolve(settings.path) }
  }

  get path(): string {
    return this.#settings.path
  }

  /** The last record that is on the disk; undefined before the log is open. Kept elsewhere, it shows a cut end. */
  get head(): AuditPosition | undefined {
    return this.#writer?.position
  }

  /** Takes the file now, to fail early. @throws AUDIT_LOG_LOCKED, AUDIT_LOG_BROKEN, AUDIT_WRITE_FAILED */
  async open({ signal }: AppendOptions = {}): Promise<void> {
    if (this.#closed) throw closedError(this.path)
    signal?.throwIfAborted()
    await abortable(this.#open(), signal)
  }

  /**
   * Resolves when the record is on the disk. When it rejects, nobody may say that it was recorded.
   *
   * @throws AUDIT_RECORD_INVALID, AUDIT_WRITE_FAILED, AUDIT_LOG_LOCKED, AUDIT_LOG_BROKEN, AUDIT_LOG_CLOSED
   */
  async append(entry: AuditEntry, { signal }: AppendOptions = {}): Promise<AuditReceipt> {
    if (this.#closed) throw closedError(this.path)
    signal?.throwIfAborted()
    const prepared = prepareEntry(entry, this.#settings)
    return new Promise((resolve, reject) => {
      let unwatch: (() => void) | undefined
      const waiting: Waiting = {
        entry: prepared,
        resolve: (receipt) => {
          unwatch?.()
          resolve(receipt)
        },
        reject: (error) => {
          unwatch?.()
          reject(error)
        },
      }
      if (signal) {
        unwatch = watchAbort(signal, (reason) => {
          this.#waiting = this.#waiting.filter((other) => other !== waiting)
          reject(reason)
        })
      }
      this.#waiting.push(waiting)
      this.#flushing ??= this.#flush()
    })
  }

  /** Writes what waits and the last checkpoint, and gives the file free; all calls share one closing. */
  async close(): Promise<void> {
    this.#closed ??= this.#close()
    await this.#closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #close(): Promise<void> {
    // A log that waits for another writer would let nobody close it.
    if (!this.#writer) this.#closing.abort(closedError(this.path))
    await this.#flushing
    const writer = this.#writer ?? (await this.#opening?.catch(() => undefined))
    await writer?.close()
  }

  #open(): Promise<LogWriter> {
    this.#opening ??= LogWriter.open(this.#settings, this.#closing.signal).then(
      (writer) => (this.#writer = writer),
      (error: unknown) => {
        this.#opening = undefined
        throw this.#closing.signal.aborted ? closedError(this.path) : error
      },
    )
    return this.#opening
  }

  // While one write is on its way, others gather for the next: that is the whole of group commit.
  async #flush(): Promise<void> {
    // Those of the same turn go together.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const size = this.#settings.sync === "record" ? 1 : this.#waiting.length
      let batch: Waiting[] = []
      try {
        const writer = await this.#open()
        batch = this.#waiting.splice(0, size)
        const receipts = await writer.write(batch.map(({ entry }) => entry))
        // What did not fit into one write goes first in the next.
        this.#waiting = [...batch.splice(receipts.length), ...this.#waiting]
        for (const [index, receipt] of receipts.entries()) batch[index]?.resolve(receipt)
      } catch (error) {
        // Those that wait would only fail the same way, one after the other.
        const rest = this.#waiting.splice(0)
        this.#writer?.refused(rest.length)
        for (const { reject } of [...batch, ...rest]) reject(error)
      }
    }
    this.#flushing = undefined
  }
}

function closedError(path: string): GloveboxError {
  return new GloveboxError("AUDIT_LOG_CLOSED", `The audit log ${path} is closed.`)
}
