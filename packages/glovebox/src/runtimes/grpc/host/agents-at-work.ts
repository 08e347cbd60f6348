import { CHAIN_ALTERNATIVE } from "../wire/metadata-names.ts"
import type { WireAgentId } from "../wire/wire-message.ts"
import type { RequestParcel } from "./parcel.ts"
import { placeKey } from "./placement.ts"

// More would make the metadata of each request long, for circles that hardly ever are.
const MAX_ALTERNATIVES = 8

/**
 * Which requests each agent of a plain worker has. Such a worker does not tell for which of them an agent makes a request
 * of its own, so it is taken to be for all of them: an agent that waits for it then lets through what comes back.
 */
export class AgentsAtWork {
  readonly #requests = new Map<string, Set<RequestParcel>>()

  began(parcel: RequestParcel): void {
    const { target } = parcel.request
    if (!target || !parcel.isChained) return
    const key = placeKey(target)
    const requests = this.#requests.get(key)
    if (requests) requests.add(parcel)
    else this.#requests.set(key, new Set([parcel]))
  }

  ended(parcel: RequestParcel): void {
    const { target } = parcel.request
    if (!target) return
    const key = placeKey(target)
    const requests = this.#requests.get(key)
    requests?.delete(parcel)
    if (requests?.size === 0) this.#requests.delete(key)
  }

  /** The chains of sends that may wait for what the agent sends now; "" for none. */
  chainOf(agent: WireAgentId | null | undefined): string {
    const requests = agent && this.#requests.get(placeKey(agent))
    if (!requests) return ""
    const chains = new Set([...requests].slice(-MAX_ALTERNATIVES).map(({ chain }) => chain))
    return [...chains].join(CHAIN_ALTERNATIVE)
  }
}
