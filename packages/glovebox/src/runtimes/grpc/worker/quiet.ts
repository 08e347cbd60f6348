import { abortable } from "../../../internal/abortable.ts"
import type { HostPort } from "./host-port.ts"

export interface QuietOptions {
  readonly port: HostPort
  /** Resolves when this worker has nothing to do. */
  readonly whenIdleHere: () => Promise<void>
  readonly activity: () => number
}

interface Question {
  readonly id: number
  readonly promise: Promise<void>
  resolve(): void
}

/** Finds out, with the host, when no worker has anything to do. */
export class Quiet {
  readonly #options: QuietOptions
  #lastId = 0
  // Answers are for all that asked before: the host knows one question of a worker at a time.
  #asking: Question | undefined

  constructor(options: QuietOptions) {
    this.#options = options
  }

  async ask(signal?: AbortSignal): Promise<void> {
    // One that is under way may have begun before what this caller knows of.
    if (this.#asking) await abortable(this.#asking.promise, signal)
    const question = (this.#asking ??= this.#newQuestion())
    await abortable(question.promise, signal)
  }

  /** The host asks: answered when there is nothing to do here. */
  async question(id: number): Promise<void> {
    await this.#options.whenIdleHere()
    this.#options.port.notify({ quiet_answer: { id, activity: this.#options.activity() } })
  }

  answer(id: number): void {
    if (this.#asking?.id !== id) return
    this.#asking.resolve()
    this.#asking = undefined
  }

  /** A host that was never asked is asked again. */
  sessionLost(): void {
    if (this.#asking) this.#options.port.notify({ quiet_question: { id: this.#asking.id } })
  }

  /** Nobody is there to answer any more. */
  end(): void {
    this.#asking?.resolve()
    this.#asking = undefined
  }

  #newQuestion(): Question {
    const id = ++this.#lastId
    let resolve: (() => void) | undefined
    const promise = new Promise<void>((settle) => {
      resolve = settle
    })
    this.#options.port.notify({ quiet_question: { id } })
    return { id, promise, resolve: () => resolve?.() }
  }
}
