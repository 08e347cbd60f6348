export type LoggedEvent = Readonly<Record<string, unknown>>

interface Waiter {
  readonly fields: LoggedEvent
  readonly resolve: (event: LoggedEvent) => void
  readonly reject: (reason: Error) => void
}

/** What a peer told, in order; a test takes each event once, before or after it happens. */
export class EventLog {
  readonly #events: LoggedEvent[] = []
  readonly #waiters = new Set<Waiter>()
  #end: Error | undefined

  add(event: LoggedEvent): void {
    for (const waiter of this.#waiters) {
      if (!hasFields(event, waiter.fields)) continue
      this.#waiters.delete(waiter)
      waiter.resolve(event)
      return
    }
    this.#events.push(event)
  }

  /** The next event that has these fields, which nobody has taken. */
  take(fields: LoggedEvent): Promise<LoggedEvent> {
    const index = this.#events.findIndex((event) => hasFields(event, fields))
    if (index >= 0) return Promise.resolve(this.#events.splice(index, 1)[0] ?? {})
    if (this.#end !== undefined) return Promise.reject(this.#end)
    return new Promise((resolve, reject) => this.#waiters.add({ fields, resolve, reject }))
  }

  /** Those that have these fields and were not taken. */
  rest(fields: LoggedEvent): readonly LoggedEvent[] {
    return this.#events.filter((event) => hasFields(event, fields))
  }

  end(reason: Error): void {
    this.#end ??= reason
    for (const waiter of this.#waiters) waiter.reject(reason)
    this.#waiters.clear()
  }
}

function hasFields(event: LoggedEvent, fields: LoggedEvent): boolean {
  return Object.entries(fields).every(([name, value]) => event[name] === value)
}
