import { abortable } from "../../internal/abortable.ts"

/** Lets a run rest between two turns: while somebody holds it, no turn begins. */
export class TurnGate {
  readonly #holds = new Set<object>()
  #isAtRest = true
  #wake: (() => void)[] = []

  get isHeld(): boolean {
    return this.#holds.size > 0
  }

  /** A run begins, and is not at rest from now on. */
  enter(): void {
    this.#isAtRest = false
  }

  leave(): void {
    this.#isAtRest = true
    this.#notify()
  }

  /** Called by a run between two turns: waits while it is held. */
  async pass(signal: AbortSignal): Promise<void> {
    while (this.isHeld) {
      this.#isAtRest = true
      const change = this.#changed()
      this.#notify()
      await abortable(change, signal)
    }
    this.#isAtRest = false
  }

  /** Holds the gate until the result is called; it may be called twice. */
  hold(): () => void {
    const hold = {}
    this.#holds.add(hold)
    this.#notify()
    return () => {
      if (this.#holds.delete(hold)) this.#notify()
    }
  }

  /** Resolves when the gate is held or let go, or the run comes to rest. */
  async #changed(): Promise<void> {
    await new Promise<void>((resolve) => this.#wake.push(resolve))
  }

  /** Resolves once somebody holds the gate. */
  async held(): Promise<void> {
    while (!this.isHeld) await this.#changed()
  }

  /** Resolves when no turn is under way; only of use to whoever holds the gate. */
  async atRest(): Promise<void> {
    while (!this.#isAtRest) await this.#changed()
  }

  #notify(): void {
    const wake = this.#wake
    this.#wake = []
    for (const resolve of wake) resolve()
  }
}
