import type { Delivery } from "./delivery.ts"
import type { Mailbox } from "./mailbox.ts"

/**
 * True when so much of what the mailbox is busy with waits, through sends, for `waiter` to end that
 * a message `waiter` queues there would wait for itself.
 *
 * Asked at each send from a handler, this finds every circle: the last send that would close one is let through.
 */
export function waitsFor(mailbox: Mailbox, waiter: Delivery): boolean {
  if (!mailbox.isSaturated) return false
  const { concurrency } = mailbox.registration
  let stuck = 0
  for (const running of mailbox.running) {
    if (reaches(running, waiter)) stuck += 1
    // The others may all end, and it would still have no place.
    if (stuck >= concurrency) return true
  }
  return false
}

function reaches(from: Delivery, target: Delivery): boolean {
  const seen = new Set<Delivery>([from])
  // A Set grows while it is walked, which makes it the work list too.
  for (const delivery of seen) {
    if (delivery === target) return true
    for (const child of delivery.children ?? []) {
      if (child.phase === "running") {
        seen.add(child)
      } else if (child.queue && child.mailbox.isSaturated) {
        for (const running of child.mailbox.running) seen.add(running)
      }
    }
  }
  return false
}
