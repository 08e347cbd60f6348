import type { GloveboxError } from "../../../core/glovebox-error.ts"
import { Fifo } from "./fifo.ts"
import type { EventParcel, Parcel } from "./parcel.ts"

export interface OutboxLimits {
  readonly maxQueued: number
  readonly maxQueuedBytes: number
}

/** True: handed to the connection. False: that has no room just now. An error: it never will. */
export type WriteOutcome = boolean | GloveboxError

export interface OutboxExits {
  readonly write: (parcel: Parcel) => WriteOutcome
  readonly onRefused: (parcel: Parcel, error: GloveboxError) => void
}

/** Requests and events for one worker: as many on their way as it gave credits for, the rest waits, bounded. */
export class Outbox {
  readonly #waiting = new Fifo<Parcel>()
  readonly #limits: OutboxLimits
  readonly #exits: OutboxExits
  #waitingCount = 0
  #waitingBytes = 0
  #requests = 0
  #events = 0
  /** How many requests and events may be unanswered at the worker. */
  credits = Number.POSITIVE_INFINITY
  /** False for a worker that never says that it is done with an event. */
  countsEvents = true
  /** While true nothing leaves but what a handler waits for. */
  isHeld = true

  constructor(limits: OutboxLimits, exits: OutboxExits) {
    this.#limits = limits
    this.#exits = exits
  }

  get queued(): number {
    return this.#waitingCount
  }

  get outstanding(): number {
    return this.#requests + this.#events
  }

  /** False when too many wait already. */
  offer(parcel: Parcel): boolean {
    const mayPass = parcel.kind === "request" && parcel.isChained
    if (mayPass || this.#isFree()) {
      // Requests that need no credit are bounded too.
      if (this.#requests >= this.credits + this.#limits.maxQueued) return false
      const outcome = this.#hand(parcel)
      if (outcome !== false) {
        if (outcome !== true) this.#exits.onRefused(parcel, outcome)
        return true
      }
    }
    if (
      this.#waitingCount >= this.#limits.maxQueued ||
      this.#waitingBytes + parcel.bytes > this.#limits.maxQueuedBytes
    ) {
      return false
    }
    this.#waiting.push(parcel)
    parcel.isWaiting = true
    this.#waitingCount++
    this.#waitingBytes += parcel.bytes
    return true
  }

  requestEnded(): void {
    if (this.#requests > 0) this.#requests--
  }

  eventsEnded(count: number): void {
    this.#events = Math.max(0, this.#events - count)
  }

  /** A parcel that waits was settled otherwise: its place is free, although it still stands in the line. */
  discard(parcel: Parcel): void {
    this.#leaveLine(parcel)
    while (this.#waiting.peek()?.isSettled) this.#waiting.shift()
  }

  /** Hands on what waits, as far as credits go. */
  pump(): void {
    while (!this.isHeld && this.outstanding < this.credits) {
      const parcel = this.#waiting.peek()
      if (!parcel) return
      const outcome = parcel.isSettled || this.#hand(parcel)
      if (outcome === false) return
      this.#waiting.shift()
      if (parcel.isWaiting) this.#leaveLine(parcel)
      if (outcome !== true) this.#exits.onRefused(parcel, outcome)
    }
  }

  waitingEvents(): readonly EventParcel[] {
    return this.#waiting
      .list()
      .filter((parcel) => parcel.kind === "event")
      .filter((parcel) => !parcel.isSettled)
  }

  /** Empties the line, for other workers. */
  takeWaiting(): readonly Parcel[] {
    this.#waitingCount = 0
    this.#waitingBytes = 0
    const parcels = this.#waiting.takeAll().filter((parcel) => !parcel.isSettled)
    for (const parcel of parcels) parcel.isWaiting = false
    return parcels
  }

  #isFree(): boolean {
    return !this.isHeld && this.#waitingCount === 0 && this.outstanding < this.credits
  }

  #leaveLine(parcel: Parcel): void {
    parcel.isWaiting = false
    this.#waitingCount--
    this.#waitingBytes -= parcel.bytes
  }

  #hand(parcel: Parcel): WriteOutcome {
    const outcome = this.#exits.write(parcel)
    if (outcome !== true) return outcome
    if (parcel.kind === "request") this.#requests++
    else if (this.countsEvents) this.#events++
    return true
  }
}
