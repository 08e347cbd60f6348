import type { ReadLine } from "./line-feed.ts"

/** How a log is not as it was written. */
export type AuditBreakKind =
  /** A record is not what it was. */
  | "edit"
  /** Records are missing, and others come after them. */
  | "deletion"
  /** A record was not written there. */
  | "insertion"
  /** All are there, in another order. */
  | "reordering"
  /** The end is missing. */
  | "truncation"
  /** A signature is missing, or is not by the key. */
  | "signature"

/** Where a log is broken. */
export interface AuditBreak {
  readonly kind: AuditBreakKind
  /** The first record that is missing, changed, or too many; for one too many, the number it should have been. */
  readonly seq: number
  readonly file: string
  /** In its file, from 1: where that was seen. */
  readonly line: number
  readonly message: string
  /** Of a truncation: the last line has no end. While a log is written, that may be so for a moment. */
  readonly isTorn?: true | undefined
}

export function breakAt(
  line: ReadLine,
  kind: AuditBreakKind,
  message: string,
  seq = line.record?.seq ?? 0,
): AuditBreak {
  return { kind, seq, file: line.file, line: line.number, message }
}
