/** Events discriminated by `type`, whose listeners can neither break the emitter nor each other. */
export class TypedEmitter<Event extends { readonly type: string }> {
  readonly #listeners = new Map<string, Set<(event: never) => void>>()
  readonly #onListenerError: (error: unknown) => void

  constructor(onListenerError: (error: unknown) => void) {
    this.#onListenerError = onListenerError
  }

  on<Type extends Event["type"]>(
    type: Type,
    listener: (event: Extract<Event, { type: Type }>) => void,
  ): Disposable {
    let listeners = this.#listeners.get(type)
    if (!listeners) this.#listeners.set(type, (listeners = new Set()))
    listeners.add(listener)
    return {
      [Symbol.dispose]: () => {
        listeners.delete(listener)
        if (listeners.size === 0 && this.#listeners.get(type) === listeners) this.#listeners.delete(type)
      },
    }
  }

  /** Ask before building an event on a hot path. */
  has(type: Event["type"]): boolean {
    return this.#listeners.size > 0 && this.#listeners.has(type)
  }

  emit<Type extends Event["type"]>(event: Extract<Event, { type: Type }>): void {
    for (const listener of this.#listeners.get(event.type) ?? []) {
      try {
        ;(listener as (event: Event) => void)(event)
      } catch (error) {
        this.#onListenerError(error)
      }
    }
  }
}
