import { AsyncResource } from "node:async_hooks"
import type { Mailbox } from "./mailbox.ts"

// Timers, sockets and aborts get a turn at least this often, however busy the agents are.
const VISITS_PER_TURN = 256
const TURN_MS = 10
// A look at the clock costs as much as a tenth of a message, so not every visit takes one.
const VISITS_PER_LOOK = 4

const SOON = Promise.resolve()

/** Visits mailboxes that have work, one message each in turn, without starving the event loop. */
export class Scheduler {
  readonly #visit: (mailbox: Mailbox) => void
  #head: Mailbox | undefined
  #tail: Mailbox | undefined
  #isRunning = false
  #holds = 0
  #isAwake = false
  // A turn is what happens between two rounds of the event loop.
  #isTurnOpen = false
  #turnEndsAt = 0
  #visitsLeft = 0
  #isDeferred = false
  // Handlers run in the context the runtime was started in, never in that of whoever sent last.
  #resource: AsyncResource | undefined

  constructor(visit: (mailbox: Mailbox) => void) {
    this.#visit = visit
  }

  start(): void {
    this.#resource = new AsyncResource("glovebox.runtime")
    this.#isRunning = true
    this.#wake()
  }

  stop(): void {
    this.#isRunning = false
  }

  /** Visits nothing until the result is called; several may hold at once. */
  hold(): () => void {
    this.#holds += 1
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#holds -= 1
      this.#wake()
    }
  }

  schedule(mailbox: Mailbox): void {
    if (mailbox.isScheduled) return
    mailbox.isScheduled = true
    if (this.#tail) this.#tail.nextScheduled = mailbox
    else this.#head = mailbox
    this.#tail = mailbox
    this.#wake()
  }

  get #mayVisit(): boolean {
    return this.#isRunning && this.#holds === 0
  }

  #wake(): void {
    if (this.#isAwake || !this.#head || !this.#mayVisit) return
    this.#isAwake = true
    // Like queueMicrotask, which on Node 20 makes an AsyncResource and a bound function each time.
    void SOON.then(this.#drainInContext)
  }

  readonly #drainInContext = (): void => {
    this.#resource?.runInAsyncScope(this.#drain)
  }

  readonly #drain = (): void => {
    this.#openTurn()
    try {
      while (this.#head && this.#mayVisit) {
        if (this.#isTurnOver()) {
          this.#isDeferred = true
          return
        }
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

  #openTurn(): void {
    if (this.#isTurnOpen) return
    this.#isTurnOpen = true
    this.#visitsLeft = VISITS_PER_TURN
    this.#turnEndsAt = performance.now() + TURN_MS
    setImmediate(this.#endTurn)
  }

  #isTurnOver(): boolean {
    if (this.#visitsLeft === 0) return true
    this.#visitsLeft -= 1
    return this.#visitsLeft % VISITS_PER_LOOK === 0 && performance.now() > this.#turnEndsAt
  }

  readonly #endTurn = (): void => {
    this.#isTurnOpen = false
    if (!this.#isDeferred) return
    this.#isDeferred = false
    this.#drainInContext()
  }

  #shift(mailbox: Mailbox): Mailbox {
    this.#head = mailbox.nextScheduled
    if (!this.#head) this.#tail = undefined
    mailbox.nextScheduled = undefined
    mailbox.isScheduled = false
    return mailbox
  }
}
