import type { Scan, Scanner, SecretRange } from "./scanner.ts"
import { endOfRun } from "./shape-scanner.ts"

// What a scanner may look back at.
const CONTEXT = 64

interface ScannerState {
  readonly scanner: Scanner
  from: number
  tail: RegExp | undefined
}

/** Redacts text that comes in pieces; it keeps back only what may be the beginning of a secret. */
export class RedactionStream {
  readonly #states: readonly ScannerState[]
  readonly #placeholder: (kind: string) => string
  // What is kept back, after what may be looked back at; `#covered` is the end of the last secret.
  #text = ""
  #base = 0
  #covered = 0

  constructor(scanners: readonly Scanner[], placeholder: (kind: string) => string) {
    this.#states = scanners.map((scanner) => ({ scanner, from: 0, tail: undefined }))
    this.#placeholder = placeholder
  }

  /** Takes a piece, and gives what may leave. */
  push(chunk: string): string {
    return this.#advance(chunk, false)
  }

  /** Takes the last piece, and gives the rest; afterwards a new text can begin. */
  end(chunk = ""): string {
    const rest = this.#advance(chunk, true)
    this.#text = ""
    this.#base = 0
    this.#covered = 0
    for (const state of this.#states) Object.assign(state, { from: 0, tail: undefined })
    return rest
  }

  #advance(chunk: string, final: boolean): string {
    const text = this.#text + chunk
    const scans = this.#states.map((state) => this.#scan(state, text, final))
    const hold = Math.min(...scans.map((scan) => scan.hold), final ? text.length : wholeCharacters(text))
    const sure = scans.flatMap(({ ranges }, index) =>
      ranges
        .filter(({ start }) => start < hold)
        .map((range) => ({ range, rank: this.#states[index]?.scanner.rank ?? 0 })),
    )
    sure.sort((a, b) => a.range.start - b.range.start || a.rank - b.rank || b.range.end - a.range.end)
    const out = this.#write(
      text,
      sure.map(({ range }) => range),
      hold,
    )
    this.#settle(text, scans, hold)
    return out
  }

  #scan(state: ScannerState, text: string, final: boolean): Scan {
    if (state.tail !== undefined) {
      state.from = endOfRun(state.tail, text, state.from)
      this.#covered = Math.max(this.#covered, state.from)
      if (state.from === text.length) return { ranges: [], hold: text.length }
      state.tail = undefined
    }
    return state.scanner.scan(text, { from: Math.max(state.from, this.#base), final })
  }

  #write(text: string, ranges: readonly SecretRange[], hold: number): string {
    let out = ""
    let at = Math.max(this.#base, this.#covered)
    for (const { start, end, kind } of ranges) {
      if (start >= at) out += text.slice(at, start) + this.#placeholder(kind)
      at = Math.max(at, end)
    }
    this.#covered = at
    return at < hold ? out + text.slice(at, hold) : out
  }

  #settle(text: string, scans: readonly Scan[], hold: number): void {
    const cut = Math.max(0, hold - CONTEXT)
    for (const [index, state] of this.#states.entries()) {
      const last = scans[index]?.ranges.findLast(({ start }) => start < hold)
      if (last !== undefined && state.scanner.overlapping !== true) {
        state.from = last.end
        state.tail = last.tail
      }
      state.from = Math.max(state.from, hold) - cut
    }
    this.#text = text.slice(cut)
    this.#base = hold - cut
    this.#covered = Math.max(this.#covered - cut, 0)
  }
}

// A pair of surrogates stays together.
function wholeCharacters(text: string): number {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last < 0xdc00 ? text.length - 1 : text.length
}
