import { abortable } from "../../internal/abortable.ts"

/** Lets a team rest between two turns: while somebody holds it, no turn begins. */
export class TurnGate {
  readonly #holds = new Set<object>()
  readonly #waiting = new Map<object, () => void>()
  #checkpoints = 0
  #isAtRest = true

  get isHeld(): boolean {
    return this.#holds.size > 0
  }

  /** Something begins that changes the team, which is not at rest from now on; a checkpoint is waited for. */
  async enter(signal?: AbortSignal): Promise<void> {
    // Asked again after each wait: another one may have begun meanwhile.
    while (this.#checkpoints > 0) await this.#until(() => this.#checkpoints === 0, signal)
    this.#isAtRest = false
  }

  leave(): void {
    this.#isAtRest = true
    this.#notify()
  }

  /** Called by a run between two turns: waits while it is held. */
  async pass(signal: AbortSignal): Promise<void> {
    if (!this.isHeld) return
    this.#isAtRest = true
    this.#notify()
    try {
      await this.#until(() => !this.isHeld, signal)
    } finally {
      this.#isAtRest = false
    }
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

  /** Resolves once somebody holds the gate. */
  async held(signal: AbortSignal): Promise<void> {
    await this.#until(() => this.isHeld, signal)
  }

  /** Does something while nothing changes the team: as soon as no turn is under way. */
  async checkpoint<T>(task: () => Promise<T>): Promise<T> {
    const release = this.hold()
    this.#checkpoints += 1
    try {
      await this.#until(() => this.#isAtRest)
      return await task()
    } finally {
      this.#checkpoints -= 1
      release()
    }
  }

  async #until(isSo: () => boolean, signal?: AbortSignal): Promise<void> {
    while (!isSo()) {
      const key = {}
      const change = new Promise<void>((resolve) => this.#waiting.set(key, resolve))
      try {
        await abortable(change, signal)
      } finally {
        // Whoever waits no more is not kept.
        this.#waiting.delete(key)
      }
    }
  }

  #notify(): void {
    for (const wake of this.#waiting.values()) wake()
    this.#waiting.clear()
  }
}
