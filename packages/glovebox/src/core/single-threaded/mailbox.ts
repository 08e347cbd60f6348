import type { Agent } from "../agent.ts"
import type { AgentId } from "../agent-id.ts"
import type { Registration } from "./registration.ts"
import type { Delivery } from "./delivery.ts"
import { DeliveryQueue } from "./delivery-queue.ts"

/** The messages of one agent: those that wait, those that wait for room, and those being handled. */
export class Mailbox {
  readonly id: AgentId
  readonly registration: Registration
  agent: Agent | undefined
  creating: Promise<Agent> | undefined

  // Links of the scheduler's list.
  isScheduled = false
  nextScheduled: Mailbox | undefined

  readonly #queue = new DeliveryQueue()
  // Rarely needed, so made on demand: an idle agent should cost little.
  #waiting: DeliveryQueue | undefined
  #urgent: DeliveryQueue | undefined
  #running: Delivery[] | undefined

  constructor(id: AgentId, registration: Registration) {
    this.id = id
    this.registration = registration
  }

  get running(): readonly Delivery[] {
    return this.#running ?? []
  }

  /** True when a message added now must wait for one that is being handled. */
  get isSaturated(): boolean {
    return (this.#running?.length ?? 0) >= this.registration.concurrency
  }

  get isFull(): boolean {
    return this.#queue.length >= this.registration.mailbox.capacity
  }

  /** True when `take` would give a delivery. */
  get hasWork(): boolean {
    return this.#next() !== undefined
  }

  add(delivery: Delivery): void {
    if (this.isFull) (this.#waiting ??= new DeliveryQueue()).push(delivery)
    else this.#queue.push(delivery)
  }

  /** Adds a delivery that the messages being handled depend on: it goes first, beyond the concurrency. */
  addUrgent(delivery: Delivery): void {
    ;(this.#urgent ??= new DeliveryQueue()).push(delivery)
  }

  /** Takes the next delivery to handle; a gated one holds back those behind it, which keeps their order. */
  take(): Delivery | undefined {
    const delivery = this.#next()
    if (!delivery) return undefined
    this.remove(delivery)
    delivery.phase = "running"
    const running = (this.#running ??= [])
    delivery.runIndex = running.length
    running.push(delivery)
    return delivery
  }

  /** Takes a delivery out of whichever queue it waits in; one that waited for room may move up. */
  remove(delivery: Delivery): void {
    delivery.queue?.remove(delivery)
    while (this.#waiting?.head && !this.isFull) {
      const admitted = this.#waiting.shift()
      if (!admitted) return
      this.#queue.push(admitted)
      admitted.leaveWaiting()
    }
  }

  /** Takes out everything that waits. */
  removeAll(): Delivery[] {
    const all: Delivery[] = []
    for (const queue of [this.#urgent, this.#queue, this.#waiting]) {
      for (let head = queue?.shift(); head; head = queue?.shift()) all.push(head)
    }
    return all
  }

  /** Makes room after a handler has ended. */
  finish(delivery: Delivery): void {
    const running = this.#running
    const last = running?.pop()
    if (!running || !last || last === delivery) return
    running[delivery.runIndex] = last
    last.runIndex = delivery.runIndex
  }

  #next(): Delivery | undefined {
    const urgent = this.#urgent?.head
    if (urgent && urgent.phase === "queued") return urgent
    const head = this.#queue.head
    return head && head.phase === "queued" && !this.isSaturated ? head : undefined
  }
}
