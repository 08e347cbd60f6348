import { type Shape, escapeSource, maxLength, partialSource } from "./shape.ts"

const KIND = { run: String.raw`[\w.\-]`, min: 1, max: 64 }

/** What stands where a secret stood: it names the kind, and is never taken for a secret itself. */
export class Placeholders {
  readonly source: string
  readonly partialSource: string
  readonly maxLength: number
  readonly #template: string
  readonly #kinds = new Set<string>()
  readonly #one: RegExp
  readonly #any: RegExp

  constructor(template: string) {
    this.#template = template
    const [before = "", after] = template.split("{kind}")
    const secret = after === undefined ? [before] : [before, KIND, after]
    const shape: Shape = { kind: "", secret: secret.filter((part) => part !== "") }
    this.source = secret
      .map((part) => (typeof part === "string" ? escapeSource(part) : `${KIND.run}{1,64}`))
      .join("")
    this.partialSource = partialSource(shape)
    this.maxLength = maxLength(shape)
    this.#one = new RegExp(`^(?:${this.source})$`)
    this.#any = new RegExp(this.source, "g")
  }

  /** Makes a kind known; the placeholder of an unknown kind is plain text, in which a secret may hide. */
  add(kind: string): void {
    this.#kinds.add(kind)
  }

  of(kind: string): string {
    return this.#template.replace("{kind}", () => kind)
  }

  isOne(text: string): boolean {
    return this.#one.test(text) && this.#isKnown(text)
  }

  anyIn(text: string): boolean {
    return (text.match(this.#any) ?? []).some((found) => this.#isKnown(found))
  }

  /** Whether a placeholder has this text in it. */
  showing(text: string): boolean {
    return [...this.#kinds].some((kind) => this.of(kind).includes(text))
  }

  #isKnown(placeholder: string): boolean {
    const [before = "", after] = this.#template.split("{kind}")
    return (
      after === undefined ||
      this.#kinds.has(placeholder.slice(before.length, placeholder.length - after.length))
    )
  }
}
