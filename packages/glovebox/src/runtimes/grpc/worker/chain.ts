import type { Delivery } from "../../../core/single-threaded/delivery.ts"
import { CHAIN_ALTERNATIVE } from "../wire/metadata-names.ts"
import type { OutgoingCall } from "./outgoing-call.ts"

// What was sent before anybody waited for it; whether somebody does by now, only its worker knows.
const NOT_YET_WAITED_FOR = "?"
// A chain this deep goes on without its oldest part.
const MAX_LENGTH = 256

/** One send in a chain, of which each was made in the handler of the one before. */
export interface ChainLink {
  readonly id: string
  readonly isWaitedFor: boolean
}

/** What a request tells of the sends that wait for it, oldest first; "" when it was sent outside a handler. */
export function chainOf(call: OutgoingCall): string {
  const { cause } = call
  if (!cause) return ""
  const own = call.waiters ? call.id : call.id + NOT_YET_WAITED_FOR
  const before = (cause.arrival?.chain ?? "").split(CHAIN_ALTERNATIVE)
  return before.map((chain) => extended(chain, own)).join(CHAIN_ALTERNATIVE)
}

/** Several where the host could not know which one it is. */
export function parseChains(chains: string): readonly (readonly ChainLink[])[] {
  if (chains === "") return []
  return chains
    .split(CHAIN_ALTERNATIVE)
    .map((chain) =>
      textsOf(chain).map((text) =>
        text.endsWith(NOT_YET_WAITED_FOR)
          ? { id: text.slice(0, -NOT_YET_WAITED_FOR.length), isWaitedFor: false }
          : { id: text, isWaitedFor: true },
      ),
    )
}

/** Finds the handlers of this worker that wait for an arrival, now and later. */
export async function watchChain(
  delivery: Delivery,
  links: readonly ChainLink[],
  find: (id: string) => OutgoingCall | undefined,
  isWaitedFor: (id: string) => Promise<boolean>,
  onWaiter: (waiter: Delivery) => void,
): Promise<void> {
  // From the newest on: who waits further up does so only if all in between do.
  for (const { id, isWaitedFor: isKnown } of links.toReversed()) {
    if (delivery.isAnswered) return
    const call = find(id)
    call?.onWaiter((waiter) => onWaiter(waiter))
    if (!call?.waiters && !isKnown && !(await isWaitedFor(id))) return
  }
}

function extended(chain: string, own: string): string {
  return [...textsOf(chain), own].slice(-MAX_LENGTH).join(",")
}

function textsOf(chain: string): readonly string[] {
  return chain === "" ? [] : chain.split(",")
}
