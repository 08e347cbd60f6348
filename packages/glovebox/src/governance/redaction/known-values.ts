import { encodedForms } from "./encoded-forms.ts"
import type { Scan, ScanPlace, Scanner } from "./scanner.ts"
import { ValueAutomaton } from "./value-automaton.ts"

/** The values that are secrets by themselves, in all their forms. */
export class KnownValues implements Scanner {
  readonly rank = 0
  readonly overlapping = true
  // Several may register one value: it is forgotten with the last.
  readonly #entries = new Map<symbol, { readonly value: string; readonly kind: string }>()
  #automaton: ValueAutomaton | undefined

  add(value: string, kind: string): symbol {
    const id = Symbol(kind)
    this.#entries.set(id, { value, kind })
    this.#automaton = undefined
    return id
  }

  remove(id: symbol): void {
    if (this.#entries.delete(id)) this.#automaton = undefined
  }

  /** Whether the text has one of the values in it. */
  anyIn(text: string): boolean {
    return [...this.#entries.values()].some(({ value }) => text.includes(value))
  }

  scan(text: string, place: ScanPlace): Scan {
    if (this.#entries.size === 0) return { ranges: [], hold: text.length }
    this.#automaton ??= new ValueAutomaton(
      [...this.#entries.values()].flatMap(({ value, kind }) =>
        encodedForms(value).map((text) => ({ text, kind })),
      ),
    )
    return this.#automaton.scan(text, place)
  }
}
