import { GloveboxError } from "../../core/glovebox-error.ts"
import { errorMessage } from "../../internal/error-message.ts"
import type { AuditLogSettings } from "./audit-log-options.ts"
import { type AuditPosition, writeHead } from "./audit-head.ts"
import { ChainDraft, type ChainEntry, type ChainState, type AuditReceipt } from "./chain-draft.ts"
import { LogFile } from "./log-file.ts"
import type { LogLock } from "./log-lock.ts"
import { moveAway, openLog } from "./open-log.ts"
import type { Checkpoint, LogEvent } from "./own-records.ts"

// One write is bounded, so that a crash leaves little behind and a file grows little beyond its size.
const MAX_WRITE_LENGTH = 1024 * 1024

/** Writes entries, one call at a time. What a call did not finish does not count, and the next begins where it began. */
export class LogWriter {
  readonly #settings: AuditLogSettings
  readonly #lock: LogLock
  #file: LogFile | undefined
  #state: ChainState
  /** What the log has to tell and has not told yet. */
  #events: LogEvent[]
  #checkpoint: Checkpoint["reason"] | undefined
  #isHeadDue = true
  #headOnItsWay: Promise<unknown> | undefined
  /** Whether a write failed that may have left something. */
  #isDirty = false
  #failure: { refused: number; error: string } | undefined

  private constructor(
    settings: AuditLogSettings,
    { lock, file, state, events }: Awaited<ReturnType<typeof openLog>>,
  ) {
    this.#settings = settings
    this.#lock = lock
    this.#file = file
    this.#state = state
    this.#events = [...events]
    if (settings.signer) this.#checkpoint = "opened"
  }

  static async open(settings: AuditLogSettings, signal: AbortSignal): Promise<LogWriter> {
    let writer: LogWriter
    try {
      writer = new LogWriter(settings, await openLog(settings, signal))
    } catch (error) {
      throw asWriteFailure(settings.path, error)
    }
    try {
      // What was put aside is told at once: the next open would not find it.
      if (writer.#events.some(({ event }) => event === "torn-line")) await writer.write([])
      return writer
    } catch (error) {
      await writer.#letGo()
      throw error
    }
  }

  get position(): AuditPosition {
    return { seq: this.#state.seq, hash: this.#state.hash }
  }

  /** Writes as many as one write takes, from the first on; their receipts come when they are on the disk. */
  async write(entries: readonly ChainEntry[]): Promise<AuditReceipt[]> {
    try {
      const receipts = await this.#write(entries)
      this.#failure = undefined
      return receipts
    } catch (error) {
      this.#failure = { refused: (this.#failure?.refused ?? 0) + entries.length, error: errorMessage(error) }
      throw asWriteFailure(this.#settings.path, error)
    }
  }

  /** Notes that so many more were refused, since nothing can be written. */
  refused(count: number): void {
    if (this.#failure) this.#failure = { ...this.#failure, refused: this.#failure.refused + count }
  }

  /** Writes the last checkpoint and the head, and lets go of everything, whatever fails. */
  async close(): Promise<void> {
    try {
      if (this.#state.sinceCheckpoint > 0) {
        this.#checkpoint = "closed"
        await this.write([])
      }
      await this.#headOnItsWay
      if (this.#isHeadDue && this.#state.seq > 0) {
        await writeHead(this.#settings.path, this.#state, this.#settings.signer)
      }
    } catch (error) {
      throw asWriteFailure(this.#settings.path, error)
    } finally {
      await this.#letGo()
    }
  }

  async #letGo(): Promise<void> {
    try {
      await this.#headOnItsWay
      await this.#file?.close()
    } finally {
      await this.#lock.release()
    }
  }

  async #write(entries: readonly ChainEntry[]): Promise<AuditReceipt[]> {
    const { path } = this.#settings
    await this.#lock.check(path)
    const file = await this.#fileToWrite()
    const draft = new ChainDraft(this.#state, this.#settings)
    for (const event of this.#events) draft.addLog(event)
    if (this.#failure) draft.addLog({ event: "write-recovered", ...this.#failure })
    if (this.#checkpoint === "opened") draft.addCheckpoint("opened")
    const receipts: AuditReceipt[] = []
    for (const entry of entries) {
      if (receipts.length > 0 && draft.length >= MAX_WRITE_LENGTH) break
      receipts.push(draft.add(entry))
    }
    if (this.#checkpoint === "closed") draft.addCheckpoint("closed")
    await this.#append(file, draft.toBuffer())
    this.#isHeadDue ||= draft.state.sinceCheckpoint < this.#state.sinceCheckpoint + receipts.length
    this.#state = draft.state
    this.#events = []
    this.#checkpoint = undefined
    if (this.#isHeadDue) this.#writeHeadBehind()
    return receipts
  }

  // The records are safe already: nobody waits for the head. One that fails comes with a later write, or at the end.
  #writeHeadBehind(): void {
    if (this.#headOnItsWay) return
    const { path, signer } = this.#settings
    this.#isHeadDue = false
    this.#headOnItsWay = writeHead(path, this.#state, signer)
      .catch(() => (this.#isHeadDue = true))
      .then(() => (this.#headOnItsWay = undefined))
  }

  async #append(file: LogFile, bytes: Buffer): Promise<void> {
    this.#isDirty = true
    try {
      await file.append(bytes)
      this.#isDirty = false
    } catch (error) {
      // At once, so that whoever looks meanwhile finds a whole log; where that fails too, before the next write.
      await this.#takeBack().catch(() => {})
      throw error
    }
  }

  /** Removes what a failed write may have left. */
  async #takeBack(): Promise<void> {
    if (this.#isDirty) await this.#file?.restore()
    this.#isDirty = false
  }

  async #fileToWrite(): Promise<LogFile> {
    const { path, maxFileBytes } = this.#settings
    await this.#takeBack()
    await this.#file?.check()
    if (this.#file && this.#file.size >= maxFileBytes) {
      const full = this.#file
      const event = await moveAway(path, this.#state)
      this.#file = undefined
      this.#events = [event, ...this.#events]
      this.#isHeadDue = true
      await full.close()
    }
    this.#file ??= await LogFile.open(path)
    return this.#file
  }
}

function asWriteFailure(path: string, cause: unknown): unknown {
  if (GloveboxError.is(cause)) return cause
  return new GloveboxError(
    "AUDIT_WRITE_FAILED",
    `${path} could not be written: ${errorMessage(cause)}. What was to be recorded is not.`,
    { cause },
  )
}
