import type { Delivery } from "./delivery.ts"
import type { Mailbox } from "./mailbox.ts"

/**
 * True when so much of what the mailbox is busy with waits, through sends, for `waiter` to end that
 * a message `waiter` queues there would wait for itself.
 *
 * Asked whenever a handler begins to wait for a send, this finds every circle: the wait that would close
 * one is let through. With more than one handler at a time it may let through more than it must.
 */
export function waitsFor(mailbox: Mailbox, waiter: Delivery): boolean {
  if (!mailbox.isSaturated) return false
  const { concurrency } = mailbox.registration
  // Nearly every circle goes straight back to where the request came from.
  if (concurrency === 1 && isAskedBy(waiter, mailbox)) return true
  let stuck = 0
  for (const dependent of dependents(waiter, mailbox)) {
    if (dependent.mailbox === mailbox && dependent.phase === "running") stuck += 1
    // The others may all end, and it would still have no place.
    if (stuck >= concurrency) return true
  }
  return false
}

/** The queued deliveries that `from` waits for, directly or through others. */
export function* queuedBelow(from: Delivery): Generator<Delivery> {
  for (const delivery of walk([from], waitedForBy)) {
    if (delivery.queue) yield delivery
  }
}

function isAskedBy(waiter: Delivery, mailbox: Mailbox): boolean {
  for (let current: Delivery | undefined = waiter; current; current = current.parent) {
    if (current.mailbox === mailbox && current.phase === "running") return true
    if (current.parent?.children?.has(current) !== true) return false
  }
  return false
}

/**
 * Those that wait for `waiter`. Looked for from both ends at once, because either side may be huge:
 * a mailbox with a long queue behind it, or a handler that waits for thousands.
 */
function* dependents(waiter: Delivery, mailbox: Mailbox): Generator<Delivery> {
  const forward = walk(mailbox.running, waitedForBy)
  let canReach = false
  for (const dependent of walk([waiter], waitingFor)) {
    yield dependent
    if (canReach) continue
    const step = forward.next()
    // Nothing the mailbox is busy with leads to the waiter.
    if (step.done === true) return
    canReach = step.value === waiter
  }
}

function* walk(
  from: readonly Delivery[],
  next: (delivery: Delivery) => Iterable<Delivery>,
): Generator<Delivery> {
  const seen = new Set(from)
  // A Set grows while it is walked, which makes it the work list too.
  for (const delivery of seen) {
    yield delivery
    for (const other of next(delivery)) seen.add(other)
  }
}

/** What must end, or begin, before this one can. */
function* waitedForBy(delivery: Delivery): Generator<Delivery> {
  if (delivery.queue && !delivery.isUrgent) {
    const { mailbox } = delivery
    // A mailbox without an agent waits for a factory, which works for the first message in it.
    if (mailbox.isSaturated) yield* mailbox.running
    else if (!mailbox.agent && mailbox.head) yield mailbox.head
  }
  yield* delivery.children ?? []
}

/** Those for which this one must end, or begin, first. */
function* waitingFor(delivery: Delivery): Generator<Delivery> {
  const { mailbox, parent } = delivery
  if (parent?.children?.has(delivery)) yield parent
  const holdsOthers =
    delivery.phase === "running" ? mailbox.isSaturated : !mailbox.agent && mailbox.head === delivery
  if (holdsOthers) yield* mailbox.queued()
}
