import { type AuditBreak, breakAt } from "./audit-break.ts"
import type { ReadLine } from "./line-feed.ts"
import { CHECKPOINT_KIND } from "./own-records.ts"
import type { AuditRecord } from "./record-line.ts"
import { type SignatureCheck, checkpointText } from "./signature.ts"

// What a log says of itself when it opens comes between two checkpoints, beside the records.
const OWN_RECORDS = 16

/** With a key: every checkpoint is signed by it, and the next comes when it must. Without one: nothing. */
export class CheckpointCheck {
  readonly #signatures: SignatureCheck | undefined
  #every: number
  #lastSeq = 0

  constructor(signatures: SignatureCheck | undefined, after: number) {
    this.#signatures = signatures
    // A log that is signed begins with a checkpoint; how far the one before a later part is, nobody can tell.
    this.#every = after === 0 ? 0 : Infinity
  }

  /** All up to this record was signed. */
  get signedThrough(): number {
    return this.#lastSeq
  }

  check(line: ReadLine, record: AuditRecord): AuditBreak | undefined {
    if (!this.#signatures) return undefined
    if (record.kind !== CHECKPOINT_KIND) return this.#isLate(record.seq) ? late(line, record.seq) : undefined
    const { signature, every } = record.data
    if (typeof every !== "number" || !this.#signatures.holds(checkpointText(record, every), signature)) {
      return breakAt(line, "signature", `Checkpoint ${record.seq} is not signed by this key.`)
    }
    this.#lastSeq = record.seq
    this.#every = every
    return undefined
  }

  atEnd(seq: number, where: { file: string; line: number }): AuditBreak | undefined {
    if (!this.#signatures || this.#lastSeq > 0 || seq === 0) return undefined
    return { kind: "signature", seq, ...where, message: "No checkpoint of this log is signed." }
  }

  #isLate(seq: number): boolean {
    return this.#lastSeq + this.#every + OWN_RECORDS < seq
  }
}

function late(line: ReadLine, seq: number): AuditBreak {
  return breakAt(line, "signature", `Up to record ${seq} a signed checkpoint should have come, and did not.`)
}
