import type { WireAgentId } from "../wire/wire-message.ts"
import type { WorkerSession } from "./worker-session.ts"

interface TypeEntry {
  /** Workers that build any agent of the type. */
  readonly builders: Set<WorkerSession>
  /** Where each agent lives; one of a plain worker is not written down, for all of the type are there. */
  readonly places: Map<string, WorkerSession>
  /** Keys of agents that were registered, and are not built on demand. */
  readonly instances: Map<string, WorkerSession>
}

/** Agents of which the host knows where they live: beyond that a caller is told to try later. */
const MAX_PLACED = 2_000_000

/** Why an agent has no place; SETTLING and DRAINING pass. */
export type PlaceFailure = "AGENT_TYPE_UNKNOWN" | "AGENT_UNKNOWN" | "QUEUE_FULL" | "SETTLING" | "DRAINING"

/** Which worker each agent lives at: the one with the fewest agents when it is first named, then always the same. */
export class Placement {
  readonly #types = new Map<string, TypeEntry>()
  #placed = 0
  /** While true, workers may still come back with agents of theirs, so none is given a new place. */
  isSettling = false

  get placed(): number {
    return this.#placed
  }

  /** Whoever has the type by itself, or the first of those who share it. */
  ownerOf(type: string): WorkerSession | undefined {
    const entry = this.#types.get(type)
    return entry?.builders.values().next().value ?? entry?.instances.values().next().value
  }

  placeOf(type: string, key: string): WorkerSession | undefined {
    return this.#types.get(type)?.places.get(key)
  }

  addBuilder(type: string, session: WorkerSession): void {
    this.#entry(type).builders.add(session)
    session.agentTypes.add(type)
  }

  /** False when the agent lives elsewhere. */
  addInstance(type: string, key: string, session: WorkerSession): boolean {
    if (!this.claim(type, key, session)) return false
    this.#entry(type).instances.set(key, session)
    session.agentTypes.add(type)
    return true
  }

  isBuilder(type: string, session: WorkerSession): boolean {
    return this.#types.get(type)?.builders.has(session) ?? false
  }

  /** Says that an agent lives at a worker; false when it lives elsewhere already. */
  claim(type: string, key: string, session: WorkerSession): boolean {
    const { places } = this.#entry(type)
    const place = places.get(key)
    if (place !== undefined) return place === session
    if (this.#placed >= MAX_PLACED) return false
    this.#put(places, key, session)
    return true
  }

  /** The worker of an agent, which is chosen now when it has none. */
  find({ type, key }: WireAgentId, isChained: boolean): WorkerSession | PlaceFailure {
    const entry = this.#types.get(type)
    if (!entry) return this.isSettling ? "SETTLING" : "AGENT_TYPE_UNKNOWN"
    const place = entry.places.get(key)
    if (place !== undefined) return place
    const builder = choose(entry.builders, isChained)
    // A plain worker has its types for itself.
    if (builder?.isPlain && builder.state === "open") return builder
    if (this.isSettling) return "SETTLING"
    if (!builder) return entry.builders.size > 0 ? "DRAINING" : "AGENT_UNKNOWN"
    if (this.#placed >= MAX_PLACED) return "QUEUE_FULL"
    this.#put(entry.places, key, builder)
    return builder
  }

  forget(type: string, key: string, session: WorkerSession): void {
    const entry = this.#types.get(type)
    if (entry?.places.get(key) !== session) return
    entry.places.delete(key)
    entry.instances.delete(key)
    session.agents--
    this.#placed--
    this.#dropIfEmpty(type, entry)
  }

  removeType(type: string, session: WorkerSession): void {
    const entry = this.#types.get(type)
    if (!entry) return
    entry.builders.delete(session)
    for (const [key, place] of entry.places) if (place === session) this.forget(type, key, session)
    session.agentTypes.delete(type)
    this.#dropIfEmpty(type, entry)
  }

  removeWorker(session: WorkerSession): void {
    for (const type of session.agentTypes) this.removeType(type, session)
  }

  #put(places: Map<string, WorkerSession>, key: string, session: WorkerSession): void {
    places.set(key, session)
    session.agents++
    this.#placed++
  }

  #dropIfEmpty(type: string, entry: TypeEntry): void {
    if (entry.builders.size === 0 && entry.places.size === 0) this.#types.delete(type)
  }

  #entry(type: string): TypeEntry {
    let entry = this.#types.get(type)
    if (!entry) {
      entry = { builders: new Set(), places: new Map(), instances: new Map() }
      this.#types.set(type, entry)
    }
    return entry
  }
}

// Those that are away come last, and those that drain only for what their own handlers wait for.
function choose(builders: ReadonlySet<WorkerSession>, isChained: boolean): WorkerSession | undefined {
  let best: WorkerSession | undefined
  for (const session of builders) {
    if (session.isDraining && !isChained) continue
    if (!best || rank(session) < rank(best)) best = session
  }
  return best
}

const LAST = Number.MAX_SAFE_INTEGER / 2

function rank(session: WorkerSession): number {
  return session.state === "open" && !session.isDraining ? session.agents : session.agents + LAST
}

/** One text for both parts of an id; a type has no slash in it. */
export function placeKey({ type, key }: WireAgentId): string {
  return `${type}/${key}`
}
