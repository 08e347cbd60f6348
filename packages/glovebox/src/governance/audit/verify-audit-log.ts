import { z } from "zod"
import { readOptions } from "../../core/read-options.ts"
import { type AuditHead, type AuditPosition, readHead } from "./audit-head.ts"
import { type AuditBreak, breakAt } from "./audit-break.ts"
import { CheckpointCheck } from "./checkpoint-check.ts"
import { diagnose } from "./diagnose.ts"
import { LineFeed, type ReadLine } from "./line-feed.ts"
import { CHECKPOINT_KIND } from "./own-records.ts"
import { type AuditRecord, NO_HASH } from "./record-line.ts"
import { type AuditKey, SignatureCheck, headText } from "./signature.ts"

/** A record that must be there; without a number, anywhere. */
export type ExpectedHead = Pick<AuditPosition, "hash"> & { readonly seq?: number | undefined }

export interface VerifyAuditLogOptions {
  /** Checkpoints, and the head, must be signed by it. */
  readonly publicKey?: AuditKey | undefined
  /** How far the log had come, as somebody kept it elsewhere; false looks at none. @default the head beside the log */
  readonly head?: ExpectedHead | false | undefined
  /** The last record before these files, where older ones were removed on purpose. */
  readonly after?: AuditPosition | undefined
  readonly signal?: AbortSignal | undefined
}

export interface AuditVerification {
  readonly ok: boolean
  /** How many records are as they were written, from the first on. */
  readonly records: number
  /** The last of them; undefined when there is none. */
  readonly head: AuditPosition | undefined
  /** The wall time of the first of them. */
  readonly firstAt: string | undefined
  /** The wall time of the last of them. */
  readonly lastAt: string | undefined
  /** How many checkpoints among them have a signature; only a key tells whether it is right. */
  readonly signatures: number
  /** All up to this record was signed; 0 without a key. */
  readonly signedThrough: number
  /** The head that was looked at: records up to it cannot have been cut off unseen. */
  readonly expected: ExpectedHead | undefined
  readonly files: readonly string[]
  /** The first thing that is not right. */
  readonly broken?: AuditBreak | undefined
}

const seq = z.number().int().min(0)
const hash = z.string().regex(/^[0-9a-f]{64}$/)
const schema = z.strictObject({
  publicKey: z.custom<AuditKey>().optional(),
  head: z.union([z.object({ seq: seq.optional(), hash }), z.literal(false)]).optional(),
  after: z.object({ seq, hash }).optional(),
  signal: z.instanceof(AbortSignal).optional(),
})

/** Checks a log, by its path with all its files, or the files of one in their order, and names the first broken record. */
export async function verifyAuditLog(
  log: string | readonly string[],
  options: VerifyAuditLogOptions = {},
): Promise<AuditVerification> {
  const settings = readOptions("verifyAuditLog", schema, options)
  const { after = { seq: 0, hash: NO_HASH }, signal } = settings
  const signatures = settings.publicKey === undefined ? undefined : new SignatureCheck(settings.publicKey)
  // The head first: a log that is being written only grows.
  const kept = typeof log === "string" && settings.head === undefined ? await readHead(log) : undefined
  const expected = settings.head === false ? undefined : (settings.head ?? kept)
  const walk = new Walk(after, expected, new CheckpointCheck(signatures, after.seq))
  await using feed = new LineFeed(log, signal)
  const broken = (await walk.run(feed)) ?? badHead(kept, signatures) ?? walk.atEnd(feed.files.at(-1))
  return {
    ok: broken === undefined,
    records: walk.last.seq - after.seq,
    head: walk.last.seq === 0 ? undefined : { seq: walk.last.seq, hash: walk.last.hash },
    firstAt: walk.firstAt,
    lastAt: walk.lastAt,
    signatures: walk.signatures,
    signedThrough: walk.signedThrough,
    expected: expected && { seq: expected.seq, hash: expected.hash },
    files: feed.files,
    broken,
  }
}

class Walk {
  readonly #expected: ExpectedHead | undefined
  readonly #checkpoints: CheckpointCheck
  #previous: ReadLine | undefined
  #hasExpected: boolean
  last: AuditPosition
  firstAt: string | undefined
  lastAt: string | undefined
  #beforeLastAt: string | undefined
  signatures = 0

  constructor(after: AuditPosition, expected: ExpectedHead | undefined, checkpoints: CheckpointCheck) {
    this.last = after
    this.#hasExpected = expected?.hash === after.hash
    this.#expected = expected
    this.#checkpoints = checkpoints
  }

  get signedThrough(): number {
    return this.#checkpoints.signedThrough
  }

  async run(feed: LineFeed): Promise<AuditBreak | undefined> {
    for (let line = await feed.next(); line; line = await feed.next()) {
      const { record } = line
      if (!record || record.prev !== this.last.hash || record.seq !== this.last.seq + 1) {
        const found = await diagnose(line, { previous: this.#previous, last: this.last, feed })
        // A forged record is found by the one after it: it does not count.
        if (found.seq === this.last.seq && this.#previous?.record) {
          this.last = { seq: this.last.seq - 1, hash: this.#previous.record.prev }
          this.lastAt = this.#beforeLastAt
          if (this.lastAt === undefined) this.firstAt = undefined
        }
        return found
      }
      const broken = this.#checkpoints.check(line, record) ?? this.#beyondHead(line)
      if (broken) return broken
      this.last = record
      this.#previous = line
      this.#note(record)
    }
    return undefined
  }

  /** What only the end shows. */
  atEnd(file: string | undefined): AuditBreak | undefined {
    const { seq } = this.last
    const where = { file: file ?? "", line: (this.#previous?.number ?? 0) + 1 }
    const message = this.#missing(seq)
    if (message !== undefined) return { kind: "truncation", seq: seq + 1, ...where, message }
    return this.#checkpoints.atEnd(seq, where)
  }

  #note({ at, hash, kind, data }: AuditRecord): void {
    this.firstAt ??= at
    this.#beforeLastAt = this.lastAt
    this.lastAt = at
    if (hash === this.#expected?.hash) this.#hasExpected = true
    if (kind === CHECKPOINT_KIND && data["signature"] !== undefined) this.signatures += 1
  }

  #missing(last: number): string | undefined {
    if (!this.#expected || this.#hasExpected) return undefined
    const { seq } = this.#expected
    if (seq === undefined) {
      return `No record has the hash of the head: the log was cut before it, or written anew.`
    }
    return seq > last ? `The log ends with record ${last}, but had come to record ${seq}.` : undefined
  }

  #beyondHead(line: ReadLine): AuditBreak | undefined {
    const { record } = line
    if (this.#expected?.seq === undefined) return undefined
    if (record?.seq !== this.#expected.seq || record?.hash === this.#expected.hash) return undefined
    return breakAt(line, "edit", `Record ${record?.seq} is another one than the head of the log says.`)
  }
}

function badHead(
  head: AuditHead | undefined,
  signatures: SignatureCheck | undefined,
): AuditBreak | undefined {
  if (!head || !signatures || signatures.holds(headText(head), head.signature)) return undefined
  const message = "The head beside the log is not signed by this key."
  return { kind: "signature", seq: head.seq, file: "", line: 0, message }
}
