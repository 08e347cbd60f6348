import type { Placeholders } from "./placeholders.ts"
import type { Scan, ScanPlace, Scanner, SecretRange } from "./scanner.ts"
import { type Shape, maxLength, partialSource, wholeSource } from "./shape.ts"

/** Finds shapes: the leftmost first, of those the first in the list, and none inside another. */
export class ShapeScanner implements Scanner {
  readonly rank: number
  readonly #placeholders: Placeholders
  readonly #shapes: Compiled["shapes"]
  readonly #whole: RegExp
  readonly #partial: RegExp
  readonly #window: number

  constructor(shapes: readonly Shape[], rank: number, placeholders: Placeholders) {
    this.rank = rank
    this.#placeholders = placeholders
    const { shapes: runs, whole, partial } = compile(shapes, placeholders)
    this.#shapes = runs
    this.#whole = whole
    this.#partial = partial
    this.#window = Math.max(placeholders.maxLength, ...shapes.map(maxLength))
  }

  scan(text: string, { from, final }: ScanPlace): Scan {
    const ranges: SecretRange[] = []
    let hold = final ? text.length : this.#openFrom(text, from)
    let at = from
    for (;;) {
      this.#whole.lastIndex = at
      const match = this.#whole.exec(text)
      if (match === null || match.index >= hold) return { ranges, hold }
      const range = this.#rangeOf(match, text)
      at = range?.next ?? match.index + 1
      if (range?.found !== undefined) ranges.push(range.found)
      if (hold < at) hold = final ? text.length : this.#openFrom(text, at)
    }
  }

  // Where the first candidate begins that the text's end cuts off.
  #openFrom(text: string, from: number): number {
    this.#partial.lastIndex = Math.max(from, text.length - this.#window)
    return this.#partial.exec(text)?.index ?? text.length
  }

  #rangeOf(match: RegExpExecArray, text: string): { next: number; found?: SecretRange } | undefined {
    const index = this.#shapes.findIndex((_shape, at) => match[2 * at + 2] !== undefined)
    const shape = this.#shapes[index]
    if (shape === undefined) {
      return this.#placeholders.isOne(match[0]) ? { next: match.index + match[0].length } : undefined
    }
    const secret = match[2 * index + 2] ?? ""
    const before = match[2 * index + 1] ?? ""
    if (shape.accepts?.(secret, before) === false || this.#placeholders.anyIn(match[0])) return undefined
    const start = match.index + before.length
    const end =
      shape.run === undefined ? start + secret.length : endOfRun(shape.run, text, start + secret.length)
    const tail = end === text.length ? shape.run : undefined
    return { next: end, found: { start, end, kind: shape.kind, tail } }
  }
}

interface Compiled {
  readonly source: string
  readonly shapes: readonly (Shape & { readonly run: RegExp | undefined })[]
  readonly whole: RegExp
  readonly partial: RegExp
}

// Large expressions are slow to make, and most redactors write the same placeholders.
const lastCompiled = new WeakMap<readonly Shape[], Compiled>()

function compile(shapes: readonly Shape[], { source, partialSource: cut }: Placeholders): Compiled {
  const last = lastCompiled.get(shapes)
  if (last?.source === source) return last
  const compiled = {
    source,
    shapes: shapes.map((shape) => ({
      ...shape,
      run: shape.tail === undefined ? undefined : new RegExp(`${shape.tail}*`, "y"),
    })),
    // A placeholder is passed over whole, so that nothing is found in it.
    whole: new RegExp([source, ...shapes.map(wholeSource)].join("|"), "g"),
    partial: new RegExp([cut, ...shapes.map(partialSource)].join("|"), "g"),
  }
  lastCompiled.set(shapes, compiled)
  return compiled
}

/** Where a run that goes on at `from` ends. */
export function endOfRun(run: RegExp, text: string, from: number): number {
  run.lastIndex = from
  run.exec(text)
  return Math.max(run.lastIndex, from)
}
