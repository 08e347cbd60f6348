import { z } from "zod"
import { readOptions } from "../../core/read-options.ts"
import { auditFiles } from "./audit-files.ts"
import { type AuditHead, type AuditPosition, readHead } from "./audit-head.ts"
import { type AuditBreak, breakAt } from "./audit-break.ts"
import { CheckpointCheck } from "./checkpoint-check.ts"
import { diagnose } from "./diagnose.ts"
import { LineFeed, type ReadLine } from "./line-feed.ts"
import { NO_HASH } from "./record-line.ts"
import { type AuditKey, SignatureCheck, headText } from "./signature.ts"

export interface VerifyAuditLogOptions {
  /** Checkpoints, and the head, must be signed by it. */
  readonly publicKey?: AuditKey | undefined
  /** How far the log had come, as somebody kept it elsewhere; false looks at none. @default the head beside the log */
  readonly head?: AuditPosition | false | undefined
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
  /** All up to this record was signed; 0 without a key. */
  readonly signedThrough: number
  /** The head that was looked at: records up to it cannot have been cut off unseen. */
  readonly expected: AuditPosition | undefined
  readonly files: readonly string[]
  /** The first thing that is not right. */
  readonly broken?: AuditBreak | undefined
}

const position = z.object({ seq: z.number().int().min(0), hash: z.string().regex(/^[0-9a-f]{64}$/) })
const schema = z.strictObject({
  publicKey: z.custom<AuditKey>().optional(),
  head: z.union([position, z.literal(false)]).optional(),
  after: position.optional(),
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
  const files = typeof log === "string" ? await auditFiles(log) : [...log]

  const walk = new Walk(after, expected, new CheckpointCheck(signatures, after.seq))
  await using feed = new LineFeed(files, signal)
  const broken = (await walk.run(feed)) ?? badHead(kept, signatures) ?? walk.atEnd(files.at(-1))
  return {
    ok: broken === undefined,
    records: walk.last.seq - after.seq,
    head: walk.last.seq === 0 ? undefined : { seq: walk.last.seq, hash: walk.last.hash },
    signedThrough: walk.signedThrough,
    expected: expected && { seq: expected.seq, hash: expected.hash },
    files,
    broken,
  }
}

class Walk {
  readonly #expected: AuditPosition | undefined
  readonly #checkpoints: CheckpointCheck
  #previous: ReadLine | undefined
  last: AuditPosition

  constructor(after: AuditPosition, expected: AuditPosition | undefined, checkpoints: CheckpointCheck) {
    this.last = after
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
        }
        return found
      }
      const broken = this.#checkpoints.check(line, record) ?? this.#beyondHead(line)
      if (broken) return broken
      this.last = record
      this.#previous = line
    }
    return undefined
  }

  /** What only the end shows. */
  atEnd(file: string | undefined): AuditBreak | undefined {
    const { seq } = this.last
    const where = { file: file ?? "", line: (this.#previous?.number ?? 0) + 1 }
    if (this.#expected && seq < this.#expected.seq) {
      const message = `The log ends with record ${seq}, but had come to record ${this.#expected.seq}.`
      return { kind: "truncation", seq: seq + 1, ...where, message }
    }
    return this.#checkpoints.atEnd(seq, where)
  }

  #beyondHead(line: ReadLine): AuditBreak | undefined {
    const { record } = line
    if (record?.seq !== this.#expected?.seq || record?.hash === this.#expected?.hash) return undefined
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
