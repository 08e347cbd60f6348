import { AsyncResource } from "node:async_hooks"
import type { Mailbox } from "./mailbox.ts"

// Timers, sockets and aborts get a turn at least this often, however busy the agents are.
const VISITS_PER_TURN = 256

const SOON = Promise.resolve()

/** Visits mailboxes that have work, one message each in turn, without starving the event loop. */
export class Scheduler {
  readonly #visit: (mailbox: Mailbox) => void
  #head: Mailbox | undefined
  #tail: Mailbox | undefined
  #isRunning = false
  #isAwake = false
  #visitsLeft = VISITS_PER_TURN
  // Handlers run in the context the runtime was started in, never in that of whoever sent last.
  #resource: AsyncResource | undefined

  constructor(visit: (mailbox: Mailbox) => void) {
    this.#visit = visit
  }

  start(): void {
    this.#resource = new AsyncResource("glovebox.runtime")
    this.resume()
  }

  resume(): void {
    this.#isRunning = true
    this.#wake()
  }

  pause(): void {
    this.#isRunning = false
  }

  schedule(mailbox: Mailbox): void {
    if (mailbox.isScheduled) return
    mailbox.isScheduled = true
    if (this.#tail) this.#tail.nextScheduled = mailbox
    else this.#head = mailbox
    this.#tail = mailbox
    this.#wake()
  }

  #wake(): void {
    if (this.#isAwake || !this.#isRunning || !this.#head) return
    this.#isAwake = true
    // Like queueMicrotask, which on Node 20 makes an AsyncResource and a bound function each time.
    void SOON.then(this.#drainInContext)
  }

  readonly #drainInContext = (): void => {
    this.#resource?.runInAsyncScope(this.#drain)
  }

  readonly #refresh = (): void => {
    this.#visitsLeft = VISITS_PER_TURN
    this.#drainInContext()
  }

  readonly #drain = (): void => {
    try {
      while (this.#isRunning && this.#head) {
        if (this.#visitsLeft === 0) {
          setImmediate(this.#refresh)
          return
        }
        this.#visitsLeft -= 1
        this.#visit(this.#shift(this.#head))
      }
    } catch (error) {
      // A defect of ours must show, but must not stop the other agents.
      this.#isAwake = false
      this.#wake()
      throw error
    }
    this.#isAwake = false
  }

  #shift(mailbox: Mailbox): Mailbox {
    this.#head = mailbox.nextScheduled
    if (!this.#head) this.#tail = undefined
    mailbox.nextScheduled = undefined
    mailbox.isScheduled = false
    return mailbox
  }
}
