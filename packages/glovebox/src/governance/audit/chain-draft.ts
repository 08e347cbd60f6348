import type { AuditPosition } from "./audit-head.ts"
import { CHECKPOINT_KIND, type Checkpoint, LOG_KIND, type LogEvent } from "./own-records.ts"
import { sealRecord } from "./record-line.ts"
import { type Signer, checkpointText } from "./signature.ts"

/** How far a chain has come. */
export interface ChainState extends AuditPosition {
  /** The wall time of the last record. */
  readonly atMs: number
  readonly sinceCheckpoint: number
}

/** What every record has beside its data. */
export interface ChainEntry {
  readonly run: string | null
  readonly agent: string | null
  readonly kind: string
  /** As JSON. */
  readonly data: string
}

export interface ChainSettings {
  readonly now: () => number
  readonly signer: Signer | undefined
  readonly checkpointEvery: number
}

/** Where a record is. */
export interface AuditReceipt extends AuditPosition {
  readonly at: string
}

/** Makes the next lines of a chain. It is a draft: what is not written does not count. */
export class ChainDraft {
  readonly #settings: ChainSettings
  readonly #lines: string[] = []
  #state: ChainState
  #bytes = 0

  constructor(state: ChainState, settings: ChainSettings) {
    this.#state = state
    this.#settings = settings
  }

  get state(): ChainState {
    return this.#state
  }

  /** About how much it is, in characters. */
  get length(): number {
    return this.#bytes
  }

  toBuffer(): Buffer {
    return Buffer.from(this.#lines.join(""))
  }

  /** The record, after whatever the log has to say first. */
  add(entry: ChainEntry): AuditReceipt {
    const atMs = this.#readClock()
    const receipt = this.#push(entry, atMs)
    if (this.#state.sinceCheckpoint >= this.#settings.checkpointEvery) this.addCheckpoint("every")
    return receipt
  }

  addLog(event: LogEvent): void {
    this.add({ run: null, agent: null, kind: LOG_KIND, data: JSON.stringify(event) })
  }

  addCheckpoint(reason: Checkpoint["reason"]): void {
    const { signer, checkpointEvery: every } = this.#settings
    const atMs = this.#readClock()
    const next = { seq: this.#state.seq + 1, prev: this.#state.hash, at: isoTime(atMs) }
    const signed = signer && { key: signer.keyId, signature: signer.sign(checkpointText(next, every)) }
    const data: Checkpoint = { reason, every, ...signed }
    this.#push({ run: null, agent: null, kind: CHECKPOINT_KIND, data: JSON.stringify(data) }, atMs)
    this.#state = { ...this.#state, sinceCheckpoint: 0 }
  }

  // The order is that of the numbers, whatever the clock does; but nobody should have to find out that it went back.
  #readClock(): number {
    const to = this.#settings.now()
    const { atMs: from } = this.#state
    if (to < from) {
      const data: LogEvent = { event: "clock-set-back", from: isoTime(from), to: isoTime(to) }
      this.#push({ run: null, agent: null, kind: LOG_KIND, data: JSON.stringify(data) }, to)
    }
    return to
  }

  #push(entry: ChainEntry, atMs: number): AuditReceipt {
    const { seq: last, hash: prev, sinceCheckpoint } = this.#state
    const seq = last + 1
    const at = isoTime(atMs)
    const mono = Number(process.hrtime.bigint() / 1000n)
    const { line, hash } = sealRecord({ seq, prev, at, mono, ...entry })
    this.#lines.push(line)
    this.#bytes += line.length
    this.#state = { seq, hash, atMs, sinceCheckpoint: sinceCheckpoint + 1 }
    return { seq, hash, at }
  }
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}
