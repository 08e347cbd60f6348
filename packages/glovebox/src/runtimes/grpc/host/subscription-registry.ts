import { GloveboxError } from "../../../core/glovebox-error.ts"
import type { Subscription } from "../../../core/subscription.ts"
import { SubscriptionTable } from "../../../core/subscription-table.ts"
import type { WorkerSession } from "./worker-session.ts"

interface Entry {
  readonly owner: WorkerSession
  readonly route: string
  readonly subscription: Subscription
}

/** The subscriptions of all workers. Workers that share an agent type have the same ones, each its own. */
export class SubscriptionRegistry {
  readonly #table = new SubscriptionTable()
  readonly #byId = new Map<string, Entry>()
  readonly #owners = new Map<string, Set<WorkerSession>>()

  get size(): number {
    return this.#byId.size
  }

  add(owner: WorkerSession, subscription: Subscription): void {
    const route = routeOf(subscription)
    const owners = this.#owners.get(route)
    if (this.#byId.has(subscription.id) || (owners && !mayShare(owners, owner))) {
      throw new GloveboxError("SUBSCRIPTION_ALREADY_EXISTS", "Subscription already exists")
    }
    if (owners) owners.add(owner)
    else {
      this.#owners.set(route, new Set([owner]))
      this.#table.add({ ...subscription, id: route })
    }
    this.#byId.set(subscription.id, { owner, route, subscription })
    owner.subscriptionIds.add(subscription.id)
  }

  /** False when the worker has none of this id; another's it cannot remove. */
  remove(owner: WorkerSession, id: string): boolean {
    const entry = this.#byId.get(id)
    if (entry?.owner !== owner) return false
    this.#byId.delete(id)
    owner.subscriptionIds.delete(id)
    const owners = this.#owners.get(entry.route)
    owners?.delete(owner)
    if (owners?.size === 0) {
      this.#owners.delete(entry.route)
      this.#table.remove(entry.route)
    }
    return true
  }

  removeWorker(owner: WorkerSession): void {
    for (const id of owner.subscriptionIds) this.remove(owner, id)
  }

  agentTypesFor(topicType: string): readonly string[] {
    return this.#table.agentTypesFor(topicType)
  }

  list(): readonly Subscription[] {
    return [...this.#byId.values()].map(({ subscription }) => subscription)
  }
}

function mayShare(owners: ReadonlySet<WorkerSession>, session: WorkerSession): boolean {
  if (session.isPlain || owners.has(session)) return false
  for (const owner of owners) if (owner.isPlain) return false
  return true
}

function routeOf(subscription: Subscription): string {
  const topic = subscription.kind === "type" ? subscription.topicType : subscription.topicTypePrefix
  return `${subscription.kind} ${topic} ${subscription.agentType}`
}
