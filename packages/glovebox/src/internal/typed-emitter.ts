interface Entry {
  readonly listener: (event: never) => unknown
}

/** Events discriminated by `type`, whose listeners can neither break the emitter nor each other. */
export class TypedEmitter<Event extends { readonly type: string }> {
  readonly #entries = new Map<string, Set<Entry>>()
  readonly #onListenerError: (error: unknown) => void

  constructor(onListenerError: (error: unknown) => void) {
    this.#onListenerError = onListenerError
  }

  on<Type extends Event["type"]>(
    type: Type,
    listener: (event: Extract<Event, { type: Type }>) => void,
  ): Disposable {
    let entries = this.#entries.get(type)
    if (!entries) this.#entries.set(type, (entries = new Set()))
    // An entry of its own, so that a function given twice is called twice and removed once.
    const entry: Entry = { listener }
    entries.add(entry)
    return {
      [Symbol.dispose]: () => {
        entries.delete(entry)
        if (entries.size === 0 && this.#entries.get(type) === entries) this.#entries.delete(type)
      },
    }
  }

  /** Ask before building an event on a hot path. */
  has(type: Event["type"]): boolean {
    return this.#entries.size > 0 && this.#entries.has(type)
  }

  emit(event: Event): void {
    const entries = this.#entries.get(event.type)
    // Over a copy: a listener that subscribes anew must not be called for ever.
    for (const entry of entries ? [...entries] : []) {
      if (entries?.has(entry)) this.#call(entry, event)
    }
  }

  #call({ listener }: Entry, event: Event): void {
    try {
      const result = (listener as (event: Event) => unknown)(event)
      if (result instanceof Promise) result.catch(this.#onListenerError)
    } catch (error) {
      this.#onListenerError(error)
    }
  }
}
