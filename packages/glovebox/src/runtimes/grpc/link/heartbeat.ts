const SILENT_BEATS = 3
const MAX_UNANSWERED = 64

/** Asks the other side whether it is there, and notices when nothing comes from it. */
export class Heartbeat {
  readonly #ask: (ping: number) => void
  readonly #onSilent: () => void
  readonly #unanswered = new Map<number, number>()
  #timer: NodeJS.Timeout | undefined
  #lastPing = 0
  #silentBeats = 0
  #lastAnsweredPingSentAt = 0

  constructor(ask: (ping: number) => void, onSilent: () => void) {
    this.#ask = ask
    this.#onSilent = onSilent
  }

  /** On the clock of `performance.now`; 0 when none was answered. */
  get lastAnsweredPingSentAt(): number {
    return this.#lastAnsweredPingSentAt
  }

  start(intervalMs: number): void {
    this.stop()
    this.#silentBeats = 0
    // The stream keeps the process alive, not the watch over it.
    this.#timer = setInterval(() => this.#beat(), intervalMs).unref()
    this.#ping()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#unanswered.clear()
  }

  heard(): void {
    this.#silentBeats = 0
  }

  answered(ping: number): void {
    const sentAt = this.#unanswered.get(ping)
    if (sentAt === undefined) return
    this.#lastAnsweredPingSentAt = sentAt
    for (const earlier of this.#unanswered.keys()) if (earlier <= ping) this.#unanswered.delete(earlier)
  }

  #beat(): void {
    // Beats are counted, not time: a process that was stopped for long first reads what came meanwhile.
    if (++this.#silentBeats > SILENT_BEATS) this.#onSilent()
    else this.#ping()
  }

  #ping(): void {
    // One that sends but never answers must not fill the memory.
    if (this.#unanswered.size >= MAX_UNANSWERED) this.#unanswered.clear()
    this.#unanswered.set(++this.#lastPing, performance.now())
    this.#ask(this.#lastPing)
  }
}
