/** Keeps the order of those with the same name, each of which may take its time. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>()

  /** True while somebody with this name has a turn. */
  has(name: string): boolean {
    return this.#last.has(name)
  }

  get isEmpty(): boolean {
    return this.#last.size === 0
  }

  /** `previous` settles when all before have ended; call `end` once, whatever happens. */
  take(name: string): { readonly previous: Promise<void> | undefined; end(): void } {
    const previous = this.#last.get(name)
    let end: (() => void) | undefined
    const own = new Promise<void>((resolve) => {
      end = resolve
    })
    const ended = previous ? previous.then(() => own) : own
    this.#last.set(name, ended)
    return {
      previous,
      end: () => {
        end?.()
        if (this.#last.get(name) === ended) this.#last.delete(name)
      },
    }
  }
}
