/** A piece of text that must not leave. */
export interface SecretRange {
  readonly start: number
  readonly end: number
  readonly kind: string
  /** What else belongs to it: a sticky expression of a run. */
  readonly tail?: RegExp | undefined
}

export interface ScanPlace {
  /** Where to begin; what is before it is only looked back at. */
  readonly from: number
  /** Nothing comes after this text. */
  readonly final: boolean
}

export interface Scan {
  /** What was found, in order; only what begins before `hold` is sure. */
  readonly ranges: readonly SecretRange[]
  /** Where the earliest candidate begins that the end of the text leaves open; the text's length if none. */
  readonly hold: number
}

/** Looks for one family of secrets, in time linear in the text. */
export interface Scanner {
  /** The lower names the secret where two find one at the same place. */
  readonly rank: number
  /** Its secrets may overlap: it goes on inside the last one. */
  readonly overlapping?: boolean
  scan(text: string, place: ScanPlace): Scan
}
