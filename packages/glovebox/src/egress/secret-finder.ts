import type { SecretForm } from "./secret-forms.ts"

/** What is at a place of a text: a form up to an end, one that may go on behind the text's end, or none. */
type Found = { readonly end: number; readonly put: string } | "cut" | undefined

/** Finds forms of secrets in texts of latin1. */
export class SecretFinder {
  readonly #forms: readonly SecretForm[]
  // By the first two bytes, because most places of most texts are the beginning of nothing.
  readonly #beginnings = new Uint8Array(2 ** 16)

  constructor(forms: readonly SecretForm[]) {
    // The longest first: one must not be found as the beginning of another.
    this.#forms = forms.toSorted((a, b) => b.letters.length - a.letters.length)
    for (const { letters } of forms) {
      const [first = [], second = []] = letters
      for (const text of first.flatMap((one) => second.map((two) => one + two)))
        this.#beginnings[text.charCodeAt(0) * 256 + text.charCodeAt(1)] = 1
    }
  }

  /** The next place from this on at which a form is, or may be; the end of the text when there is none. */
  next(text: string, from: number): number {
    const last = text.length - 1
    for (let at = from; at < last; at += 1)
      if (this.#beginnings[text.charCodeAt(at) * 256 + text.charCodeAt(at + 1)] === 1) return at
    return Math.max(from, last)
  }

  /** What is there; "cut" only where more is to come. */
  at(text: string, from: number, isMoreToCome: boolean): Found {
    let found: Found
    for (const { letters, put } of this.#forms) {
      const { end, isCut } = follow(letters, text, from)
      if (isCut && isMoreToCome) return "cut"
      if (end !== undefined) found ??= { end, put: put.padEnd(end - from, "x") }
    }
    return found
  }
}

interface Followed {
  /** Behind the last letter, at the furthest. */
  readonly end: number | undefined
  /** Whether the text ends before it is known. */
  readonly isCut: boolean
}

function follow(letters: SecretForm["letters"], text: string, from: number): Followed {
  // A percent sign is one, or begins another letter: both are followed.
  let places: readonly number[] = [from]
  let isCut = false
  for (const spellings of letters) {
    const next: number[] = []
    for (const at of places) {
      for (const spelling of spellings) {
        if (text.startsWith(spelling, at)) next.push(at + spelling.length)
        else if (text.length - at < spelling.length) isCut ||= spelling.startsWith(text.slice(at))
      }
    }
    if (next.length === 0) return { end: undefined, isCut }
    places = next.length === 1 ? next : [...new Set(next)]
  }
  return { end: Math.max(...places), isCut }
}
