import type { SecretFinder } from "./secret-finder.ts"

/** Puts placeholders in the place of secrets in a stream of bytes, also where one comes in several pieces. */
export class StreamReplacer {
  readonly #finder: SecretFinder
  #held = ""

  constructor(finder: SecretFinder) {
    this.#finder = finder
  }

  /** What can pass by now. */
  push(bytes: Buffer): Buffer {
    return this.#replace(this.#held + bytes.toString("latin1"), true)
  }

  /** The rest: nothing comes behind it. */
  end(): Buffer {
    return this.#replace(this.#held, false)
  }

  #replace(text: string, isMoreToCome: boolean): Buffer {
    const passed: string[] = []
    let kept = 0
    let at = this.#finder.next(text, 0)
    while (at < text.length) {
      const found = this.#finder.at(text, at, isMoreToCome)
      if (found === "cut") break
      if (found) {
        passed.push(text.slice(kept, at), found.put)
        kept = found.end
      }
      at = this.#finder.next(text, found ? found.end : at + 1)
    }
    this.#held = text.slice(Math.max(kept, at))
    return Buffer.from(passed.join("") + text.slice(kept, at), "latin1")
  }
}
