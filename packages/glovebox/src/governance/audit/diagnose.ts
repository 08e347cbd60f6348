import type { AuditPosition } from "./audit-head.ts"
import { type AuditBreak, breakAt } from "./audit-break.ts"
import type { LineFeed, ReadLine } from "./line-feed.ts"
import type { AuditRecord } from "./record-line.ts"

interface Surroundings {
  /** The line before, if it was a record. */
  readonly previous: ReadLine | undefined
  readonly last: AuditPosition
  /** What comes after. */
  readonly feed: LineFeed
}

/** Says what happened where a line does not follow the one before. */
export async function diagnose(line: ReadLine, around: Surroundings): Promise<AuditBreak> {
  const { record } = line
  if (!record) return badLine(line, around)
  const seq = around.last.seq + 1
  if (record.seq === seq) return wrongHash(line, record, around)
  if (record.prev === around.last.hash) {
    return breakAt(line, "edit", `Record ${seq} has the number ${record.seq}.`, seq)
  }
  return record.seq < seq ? tooMany(line, record, around) : tooEarly(line, record, around)
}

/** No record, or one whose hash is not its own. */
async function badLine(line: ReadLine, { last, feed }: Surroundings): Promise<AuditBreak> {
  const seq = last.seq + 1
  if (!line.isWhole) {
    const message = `Record ${seq} has no end: its writer died in it, or the file was cut there.`
    return { ...breakAt(line, "truncation", message, seq), isTorn: true }
  }
  const next = await feed.next()
  if (next?.record && follows(next.record, last)) {
    return breakAt(
      line,
      "insertion",
      `Between records ${last.seq} and ${seq} is a line that is no record.`,
      seq,
    )
  }
  return breakAt(line, "edit", `Record ${seq} was changed: its hash is not that of its line.`, seq)
}

/** The number is right, but it was written after another record than the one before it. */
async function wrongHash(
  line: ReadLine,
  record: AuditRecord,
  { previous, last, feed }: Surroundings,
): Promise<AuditBreak> {
  const next = await feed.next()
  // Whether the others still follow it tells which of the two is not what it was.
  const isFollowed = next?.record && follows(next.record, record)
  if (previous && (isFollowed || !next)) {
    const message = `Record ${last.seq} was replaced: record ${record.seq} was written after another one.`
    return breakAt(previous, "edit", message)
  }
  const message = `Record ${record.seq} was not written after the record before it.`
  return breakAt(line, "edit", message)
}

/** A number that was there before. */
async function tooMany(
  line: ReadLine,
  record: AuditRecord,
  { previous, last, feed }: Surroundings,
): Promise<AuditBreak> {
  const isOther = record.hash !== last.hash
  if (previous && isOther && record.seq === last.seq && record.prev === previous.record?.prev) {
    const next = await feed.next()
    // Two for one place: the one that the others follow was there first.
    if (next?.record && follows(next.record, record)) {
      return breakAt(
        previous,
        "insertion",
        `There are two records ${last.seq}; the others follow the second.`,
      )
    }
  }
  const message = `After record ${last.seq} comes record ${record.seq} once more.`
  return breakAt(line, "insertion", message, last.seq + 1)
}

/** A number that should come later: the rest of the log tells why it is here. */
async function tooEarly(
  line: ReadLine,
  record: AuditRecord,
  { last, feed }: Surroundings,
): Promise<AuditBreak> {
  const seq = last.seq + 1
  let isMissing = true
  let isTwice = false
  for (let next = await feed.next(); next; next = await feed.next()) {
    if (next.record?.seq === seq) isMissing = false
    if (next.record?.hash === record.hash) isTwice = true
    if (!isMissing && isTwice) break
  }
  if (isTwice) {
    return breakAt(line, "insertion", `After record ${last.seq} comes a copy of record ${record.seq}.`, seq)
  }
  if (!isMissing) {
    const message = `After record ${last.seq} comes record ${record.seq}; record ${seq} comes later.`
    return breakAt(line, "reordering", message, seq)
  }
  const until = record.seq - 1
  const missing = until === seq ? `Record ${seq} is` : `Records ${seq} to ${until} are`
  return breakAt(line, "deletion", `${missing} missing.`, seq)
}

function follows(record: AuditRecord, last: AuditPosition): boolean {
  return record.seq === last.seq + 1 && record.prev === last.hash
}
