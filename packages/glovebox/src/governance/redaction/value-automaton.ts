import type { Scan, ScanPlace, SecretRange } from "./scanner.ts"

const NEW_LINE = 10
const CARRIAGE_RETURN = 13
// A value broken over lines is still found; more empty lines than this are a new text.
const MAX_BREAKS = 4

interface Form {
  readonly text: string
  readonly kind: string
}

/** Finds many values in one pass over a text (Aho-Corasick): the time does not grow with their number. */
export class ValueAutomaton {
  readonly #kinds: string[] = []
  // The tree of all values: a node has its first child, its next sibling, its character, its depth.
  readonly #child: Int32Array
  readonly #sibling: Int32Array
  readonly #unit: Uint16Array
  readonly #depth: Int32Array
  // Where to go on when no child fits, and the longest value that ends here: its length and kind.
  readonly #fail: Int32Array
  readonly #found: Int32Array
  readonly #kind: Int32Array
  readonly #root = new Int32Array(0x1_00_00)
  readonly #ring: Int32Array
  #size = 1

  constructor(forms: readonly Form[]) {
    const texts = forms.map(({ text, kind }) => ({ text: text.replace(/[\r\n]/g, ""), kind }))
    const room = texts.reduce((sum, { text }) => sum + text.length, 1)
    this.#child = new Int32Array(room)
    this.#sibling = new Int32Array(room)
    this.#unit = new Uint16Array(room)
    this.#depth = new Int32Array(room)
    this.#fail = new Int32Array(room)
    this.#found = new Int32Array(room)
    this.#kind = new Int32Array(room)
    for (const { text, kind } of texts) this.#insert(text, kind)
    this.#link()
    const longest = texts.reduce((length, { text }) => Math.max(length, text.length), 1)
    this.#ring = new Int32Array(2 ** Math.ceil(Math.log2(longest + 1)))
  }

  scan(text: string, { from, final }: ScanPlace): Scan {
    const ranges: SecretRange[] = []
    const ring = this.#ring
    const mask = ring.length - 1
    let node = 0
    let seen = 0
    let breaks = 0
    for (let index = from; index < text.length; index += 1) {
      const unit = text.charCodeAt(index)
      if (unit === NEW_LINE || unit === CARRIAGE_RETURN) {
        breaks += 1
        if (breaks > MAX_BREAKS) node = 0
        continue
      }
      breaks = 0
      node = this.#step(node, unit)
      ring[seen & mask] = index
      seen += 1
      const length = this.#found[node] ?? 0
      if (length > 0) {
        const start = ring[(seen - length) & mask] ?? 0
        push(ranges, { start, end: index + 1, kind: this.#kinds[this.#kind[node] ?? 0] ?? "" })
      }
    }
    if (final) return { ranges, hold: text.length }
    // Only what can still grow is open.
    while (node !== 0 && this.#child[node] === 0) node = this.#fail[node] ?? 0
    const depth = this.#depth[node] ?? 0
    return { ranges, hold: depth === 0 ? text.length : (ring[(seen - depth) & mask] ?? 0) }
  }

  #step(from: number, unit: number): number {
    let node = from
    while (node !== 0) {
      const next = this.#childOf(node, unit)
      if (next !== 0) return next
      node = this.#fail[node] ?? 0
    }
    return this.#root[unit] ?? 0
  }

  #childOf(node: number, unit: number): number {
    if (node === 0) return this.#root[unit] ?? 0
    let child = this.#child[node] ?? 0
    while (child !== 0 && this.#unit[child] !== unit) child = this.#sibling[child] ?? 0
    return child
  }

  #insert(text: string, kind: string): void {
    let node = 0
    for (let index = 0; index < text.length; index += 1) {
      const unit = text.charCodeAt(index)
      let next = this.#childOf(node, unit)
      if (next === 0) {
        next = this.#size
        this.#size += 1
        this.#unit[next] = unit
        this.#depth[next] = index + 1
        if (node === 0) this.#root[unit] = next
        this.#sibling[next] = this.#child[node] ?? 0
        this.#child[node] = next
      }
      node = next
    }
    if (node === 0 || this.#found[node] !== 0) return
    this.#found[node] = text.length
    this.#kind[node] = this.#kinds.push(kind) - 1
  }

  // Breadth first: what a node falls back to is nearer to the root, and done before it.
  #link(): void {
    const queue = new Int32Array(this.#size)
    let end = 1
    for (let at = 0; at < end; at += 1) {
      const node = queue[at] ?? 0
      for (let child = this.#child[node] ?? 0; child !== 0; child = this.#sibling[child] ?? 0) {
        queue[end] = child
        end += 1
        const fail = node === 0 ? 0 : this.#step(this.#fail[node] ?? 0, this.#unit[child] ?? 0)
        this.#fail[child] = fail
        if (this.#found[child] !== 0) continue
        this.#found[child] = this.#found[fail] ?? 0
        this.#kind[child] = this.#kind[fail] ?? 0
      }
    }
  }
}

// Ranges that overlap become one, so that a text made of one letter does not give one for each place.
function push(ranges: SecretRange[], range: SecretRange): void {
  let { start, kind } = range
  for (let last = ranges.at(-1); last !== undefined && start < last.end; last = ranges.at(-1)) {
    if (last.start < start) ({ start, kind } = last)
    ranges.pop()
  }
  ranges.push({ start, end: range.end, kind })
}
