import type { AccessScope } from "../access-guard.ts"
import type { Agent } from "../agent.ts"
import type { AgentId } from "../agent-id.ts"
import type { Registration } from "./registration.ts"
import type { Delivery } from "./delivery.ts"
import { DeliveryQueue } from "./delivery-queue.ts"

/** The messages of one agent: those that wait, those that wait for room, and those being handled. */
export class Mailbox extends DeliveryQueue {
  readonly id: AgentId
  readonly registration: Registration
  agent: Agent | undefined
  /** By what its agent is bound; undefined where the runtime has no guard. */
  access: AccessScope | undefined
  creating: Promise<Agent> | undefined
  /** Its agent could not be built: the next message gets a new mailbox. */
  isForgotten = false

  // Links of the scheduler's list.
  isScheduled = false
  nextScheduled: Mailbox | undefined

  // Rarely needed, so made on demand: an idle agent should cost little.
  #waiting: DeliveryQueue | undefined
  #urgent: DeliveryQueue | undefined
  #current: Delivery | undefined
  #others: Set<Delivery> | undefined

  constructor(id: AgentId, registration: Registration) {
    super()
    this.id = id
    this.registration = registration
  }

  get running(): readonly Delivery[] {
    return [...(this.#current ? [this.#current] : []), ...(this.#others ?? [])]
  }

  /** True when a message added now must wait for one that is being handled. */
  get isSaturated(): boolean {
    return (this.#current ? 1 : 0) + (this.#others?.size ?? 0) >= this.registration.concurrency
  }

  get isFull(): boolean {
    return this.length >= this.registration.mailbox.capacity
  }

  /** True when `take` would give a delivery. */
  get hasWork(): boolean {
    return this.#next() !== undefined
  }

  add(delivery: Delivery): void {
    if (this.isFull) (this.#waiting ??= new DeliveryQueue()).push(delivery)
    else this.push(delivery)
  }

  /** Adds a delivery that the messages being handled depend on: it goes first, beyond the concurrency. */
  addUrgent(delivery: Delivery): void {
    delivery.isUrgent = true
    ;(this.#urgent ??= new DeliveryQueue()).push(delivery)
  }

  /** Moves a delivery that waits to where it goes first. */
  makeUrgent(delivery: Delivery): void {
    if (delivery.isUrgent) return
    this.remove(delivery)
    this.addUrgent(delivery)
  }

  /** Everything that waits. */
  *queued(): Generator<Delivery> {
    yield* this.#urgent ?? []
    yield* this
    yield* this.#waiting ?? []
  }

  /** Takes the next delivery to handle; a gated one holds back those behind it, which keeps their order. */
  take(): Delivery | undefined {
    const delivery = this.#next()
    if (!delivery) return undefined
    this.remove(delivery)
    delivery.phase = "running"
    if (this.#current) (this.#others ??= new Set()).add(delivery)
    else this.#current = delivery
    return delivery
  }

  /** Takes a delivery out of whichever queue it waits in; one that waited for room may move up. */
  remove(delivery: Delivery): void {
    delivery.queue?.unlink(delivery)
    while (this.#waiting?.head && !this.isFull) {
      const admitted = this.#waiting.shift()
      if (!admitted) return
      this.push(admitted)
      admitted.leaveWaiting()
    }
  }

  /** Takes out everything that waits. */
  removeAll(): Delivery[] {
    const all = [...this.queued()]
    for (const delivery of all) delivery.queue?.unlink(delivery)
    return all
  }

  /** Makes room after a handler has ended. */
  finish(delivery: Delivery): void {
    if (this.#current === delivery) this.#current = undefined
    else this.#others?.delete(delivery)
  }

  #next(): Delivery | undefined {
    const urgent = this.#urgent?.head
    if (urgent && urgent.phase === "queued") return urgent
    const { head } = this
    return head && head.phase === "queued" && !this.isSaturated ? head : undefined
  }
}
