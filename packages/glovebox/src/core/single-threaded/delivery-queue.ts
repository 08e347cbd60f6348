import type { Delivery } from "./delivery.ts"

/** A first-in-first-out list that gives up any member at once, so a cancelled message leaves no trace. */
export class DeliveryQueue {
  #head: Delivery | undefined
  #tail: Delivery | undefined
  #length = 0

  get head(): Delivery | undefined {
    return this.#head
  }

  get length(): number {
    return this.#length
  }

  *[Symbol.iterator](): Generator<Delivery> {
    for (let delivery = this.#head; delivery; delivery = delivery.next) yield delivery
  }

  push(delivery: Delivery): void {
    delivery.queue = this
    delivery.previous = this.#tail
    if (this.#tail) this.#tail.next = delivery
    else this.#head = delivery
    this.#tail = delivery
    this.#length += 1
  }

  shift(): Delivery | undefined {
    const head = this.#head
    if (head) this.unlink(head)
    return head
  }

  unlink(delivery: Delivery): void {
    if (delivery.queue !== this) return
    const { previous, next } = delivery
    if (previous) previous.next = next
    else this.#head = next
    if (next) next.previous = previous
    else this.#tail = previous
    delivery.queue = undefined
    delivery.previous = undefined
    delivery.next = undefined
    this.#length -= 1
  }
}
