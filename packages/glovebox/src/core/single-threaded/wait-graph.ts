import type { Delivery } from "./delivery.ts"
import type { Mailbox } from "./mailbox.ts"

/**
 * True when everything the mailbox is busy with waits, through sends, for `waiter` to end.
 * A message that `waiter` sends there, and queues, would then wait for itself.
 */
export function waitsFor(mailbox: Mailbox, waiter: Delivery): boolean {
  return mailbox.isSaturated && mailbox.running.every((running) => reaches(running, waiter))
}

function reaches(from: Delivery, target: Delivery): boolean {
  const seen = new Set<Delivery>([from])
  // A Set grows while it is walked, which makes it the work list too.
  for (const delivery of seen) {
    if (delivery === target) return true
    for (const child of delivery.children ?? []) {
      if (child.phase === "running") seen.add(child)
      else if (child.mailbox.isSaturated) for (const running of child.mailbox.running) seen.add(running)
    }
  }
  return false
}
