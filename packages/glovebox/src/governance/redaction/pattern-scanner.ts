import type { Placeholders } from "./placeholders.ts"
import type { Scan, ScanPlace, Scanner, SecretRange } from "./scanner.ts"

/** A user's own kind of secret. */
export interface SecretPattern {
  readonly name: string
  /** Its own time is the caller's care: prefer bounded repeats. */
  readonly pattern: RegExp
  /** A stream keeps so many characters back for it. @default 256 */
  readonly maxLength?: number | undefined
}

/** Finds what a user's expression matches. */
export class PatternScanner implements Scanner {
  readonly rank: number
  readonly #name: string
  readonly #pattern: RegExp
  readonly #alone: RegExp
  readonly #maxLength: number
  readonly #placeholders: Placeholders

  constructor({ name, pattern, maxLength = 256 }: SecretPattern, rank: number, placeholders: Placeholders) {
    this.rank = rank
    this.#name = name
    this.#maxLength = maxLength
    this.#placeholders = placeholders
    const flags = pattern.flags.replace(/[gyd]/g, "")
    this.#pattern = new RegExp(`(?:${placeholders.source})|(?:${pattern.source})`, `${flags}g`)
    this.#alone = new RegExp(pattern.source, `${flags}y`)
  }

  scan(text: string, { from, final }: ScanPlace): Scan {
    const ranges: SecretRange[] = []
    const keep = Math.max(this.#maxLength, this.#placeholders.maxLength)
    let hold = final ? text.length : Math.max(from, text.length - keep + 1)
    let at = from
    for (;;) {
      this.#pattern.lastIndex = at
      const match = this.#pattern.exec(text)
      if (match === null || match.index >= hold) return { ranges, hold: Math.min(hold, text.length) }
      const { index } = match
      if (this.#placeholders.isOne(match[0])) {
        at = index + match[0].length
      } else {
        const end = this.#endAt(text, index)
        if (end !== undefined) ranges.push({ start: index, end, kind: this.#name })
        at = end ?? index + 1
      }
      if (hold < at) hold = at
    }
  }
  // Where the user's own match at this place ends, if there is one and it spans no placeholder.
  #endAt(text: string, index: number): number | undefined {
    this.#alone.lastIndex = index
    const [found = ""] = this.#alone.exec(text) ?? []
    return found === "" || this.#placeholders.anyIn(found) ? undefined : index + found.length
  }
}
