import type { Replacement } from "./secret-forms.ts"

/** Replaces texts in a stream of bytes, also where one comes in several pieces. */
export class StreamReplacer {
  readonly #replacements: ReadonlyMap<string, string>
  readonly #found: RegExp
  readonly #longest: number
  #held = ""

  constructor(replacements: readonly Replacement[]) {
    this.#replacements = new Map(replacements)
    this.#found = new RegExp(replacements.map(([found]) => escaped(found)).join("|"), "g")
    this.#longest = Math.max(...replacements.map(([found]) => found.length))
  }

  /** What can pass by now. */
  push(bytes: Buffer): Buffer {
    const text = this.#replace(this.#held + bytes.toString("latin1"))
    const length = text.length - this.#beginning(text)
    this.#held = text.slice(length)
    return Buffer.from(text.slice(0, length), "latin1")
  }

  /** The rest: nothing comes behind it. */
  end(): Buffer {
    const rest = this.#held
    this.#held = ""
    return Buffer.from(rest, "latin1")
  }

  #replace(text: string): string {
    return text.replaceAll(this.#found, (found) => this.#replacements.get(found) ?? "")
  }

  // How much of the end may be the beginning of something to replace.
  #beginning(text: string): number {
    for (let length = Math.min(this.#longest - 1, text.length); length > 0; length -= 1) {
      const end = text.slice(-length)
      for (const found of this.#replacements.keys())
        if (found.length > length && found.startsWith(end)) return length
    }
    return 0
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}/-]/g, String.raw`\$&`)
}
