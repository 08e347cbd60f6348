import { watchAbort } from "../../../internal/watch-abort.ts"
import type { GateAnswer } from "../gate-answer.ts"
import type { GateRequest } from "../gate-request.ts"

interface Waiter {
  readonly resolve: (answer: GateAnswer) => void
  readonly reject: (error: unknown) => void
}

/** A request of the queue; the first answer counts. */
export class QueuedApproval {
  readonly request: GateRequest
  readonly #waiters = new Set<Waiter>()
  #answer: GateAnswer | undefined

  constructor(request: GateRequest) {
    this.request = request
  }

  get answer(): GateAnswer | undefined {
    return this.#answer
  }

  /** False when it has an answer. */
  settle(answer: GateAnswer): boolean {
    if (this.#answer !== undefined) return false
    this.#answer = answer
    for (const { resolve } of this.#waiters) resolve(answer)
    return true
  }

  /** Ends the wait of whoever waits. */
  fail(error: unknown): void {
    for (const { reject } of this.#waiters) reject(error)
  }

  wait(signal: AbortSignal): Promise<GateAnswer> {
    if (this.#answer !== undefined) return Promise.resolve(this.#answer)
    return new Promise((resolve, reject) => {
      const waiter = { resolve, reject }
      this.#waiters.add(waiter)
      watchAbort(signal, (reason) => {
        this.#waiters.delete(waiter)
        reject(reason)
      })
    })
  }
}
