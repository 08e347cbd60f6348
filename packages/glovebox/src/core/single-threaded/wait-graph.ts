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

/** The queued deliveries of the circles that close because `waiter` begins to wait for `child`. */
export function queuedInCircle(waiter: Delivery, child: Delivery): readonly Delivery[] {
  // All those circles go through the child: if it can begin, each is open again.
  if (child.queue && child.mailbox.agent) return [child]
  if (!areConnected(child, waiter)) return []
  const stuck = new Set(walk([waiter], waitingFor))
  const circle = walk([child], (delivery) => [...waitedForBy(delivery)].filter((other) => stuck.has(other)))
  return [...circle].filter((delivery) => delivery.queue !== undefined)
}

function isAskedBy(waiter: Delivery, mailbox: Mailbox): boolean {
  // Handlers that share promises can wait in a circle of their own, so remember where we were.
  const seen = new Set<Delivery>()
  for (
    let current: Delivery | undefined = waiter;
    current && !seen.has(current);
    [current] = current.waiters
  ) {
    if (current.mailbox === mailbox && current.phase === "running") return true
    seen.add(current)
  }
  return false
}

/** Those that wait for `waiter`, if any of what the mailbox is busy with does. */
function dependents(waiter: Delivery, mailbox: Mailbox): Iterable<Delivery> {
  return mailbox.running.some((running) => areConnected(running, waiter)) ? walk([waiter], waitingFor) : []
}

/**
 * True when `from` waits for `to`, directly or through others. Looked for from both ends at once, because
 * either side may be huge: a mailbox with a long queue, or a handler that waits for thousands.
 */
function areConnected(from: Delivery, to: Delivery): boolean {
  const forward = walk([from], waitedForBy)
  const backward = walk([to], waitingFor)
  for (;;) {
    const ahead = forward.next()
    const behind = backward.next()
    if (ahead.value === to || behind.value === from) return true
    if (ahead.done === true || behind.done === true) return false
  }
}

/** Everything that can be reached, depth first; looks at no more neighbours than it is asked for. */
function* walk(
  from: readonly Delivery[],
  next: (delivery: Delivery) => Iterable<Delivery>,
): Generator<Delivery> {
  const seen = new Set<Delivery>()
  const open: Iterator<Delivery>[] = [from.values()]
  for (let current = open.at(-1); current; current = open.at(-1)) {
    const step = current.next()
    if (step.done === true) {
      open.pop()
    } else if (!seen.has(step.value)) {
      seen.add(step.value)
      yield step.value
      open.push(next(step.value)[Symbol.iterator]())
    }
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
  const { mailbox } = delivery
  yield* delivery.waiters
  const holdsOthers =
    delivery.phase === "running" ? mailbox.isSaturated : !mailbox.agent && mailbox.head === delivery
  if (holdsOthers) yield* mailbox.queued()
}
