import { describe } from "../internal/describe.ts"
import { GloveboxError } from "./glovebox-error.ts"
import type { Subscription } from "./subscription.ts"

const MAX_CACHED_TOPIC_TYPES = 1024

/** The subscriptions of a runtime, indexed so that a look-up does not depend on how many there are. */
export class SubscriptionTable {
  readonly #byId = new Map<string, Subscription>()
  // By topic type or prefix, then by agent type.
  readonly #byTopicType = new Map<string, Map<string, Subscription>>()
  readonly #byPrefix = new Map<string, Map<string, Subscription>>()
  // Order of adding is order of delivery, also between exact and prefix subscriptions.
  readonly #order = new Map<string, number>()
  #added = 0
  #cache = new Map<string, readonly string[]>()
  #prefixLengths: ReadonlySet<number> | undefined

  add(subscription: Subscription): void {
    const sameRoute = this.#sameRoute(subscription)
    if (sameRoute)
      throw exists(`${describeRoute(sameRoute)} exists already (id ${sameRoute.id}). Add it once.`)
    const sameId = this.#byId.get(subscription.id)
    if (sameId) {
      throw exists(`The id ${describe(sameId.id)} is taken: ${describeRoute(sameId)}. Give each its own id.`)
    }
    const [index, name] = this.#index(subscription)
    const routes = index.get(name)
    if (routes) routes.set(subscription.agentType, subscription)
    else index.set(name, new Map([[subscription.agentType, subscription]]))
    this.#byId.set(subscription.id, subscription)
    this.#order.set(subscription.id, this.#added++)
    this.#changed()
  }

  remove(id: string): void {
    const subscription = this.#byId.get(id)
    if (!subscription) {
      throw new GloveboxError(
        "SUBSCRIPTION_UNKNOWN",
        `No subscription has the id ${describe(id)}. Use the id of one that was added.`,
      )
    }
    const [index, name] = this.#index(subscription)
    const routes = index.get(name)
    routes?.delete(subscription.agentType)
    if (routes?.size === 0) index.delete(name)
    this.#byId.delete(id)
    this.#order.delete(id)
    this.#changed()
  }

  list(): readonly Subscription[] {
    return [...this.#byId.values()]
  }

  /** True when the same agents receive the same topics already, under whichever id. */
  has(subscription: Subscription): boolean {
    return this.#sameRoute(subscription) !== undefined
  }

  /** The agent types that receive a topic type, each once, in the order they subscribed. */
  agentTypesFor(topicType: string): readonly string[] {
    const cached = this.#cache.get(topicType)
    if (cached) return cached
    const agentTypes = this.#find(topicType)
    // Topic types can be as many as conversations, so the cache must not grow with them.
    if (this.#cache.size >= MAX_CACHED_TOPIC_TYPES) this.#cache.clear()
    this.#cache.set(topicType, agentTypes)
    return agentTypes
  }

  #changed(): void {
    this.#cache.clear()
    this.#prefixLengths = undefined
  }

  #find(topicType: string): readonly string[] {
    const matches = [...(this.#byTopicType.get(topicType)?.values() ?? [])]
    for (const length of this.#lengths()) {
      const prefixed = this.#byPrefix.get(topicType.slice(0, length))
      if (length <= topicType.length && prefixed) matches.push(...prefixed.values())
    }
    matches.sort((a, b) => this.#position(a) - this.#position(b))
    return [...new Set(matches.map((subscription) => subscription.agentType))]
  }

  // Few lengths, however many prefixes there are and however long a topic type is.
  #lengths(): ReadonlySet<number> {
    return (this.#prefixLengths ??= new Set([...this.#byPrefix.keys()].map((prefix) => prefix.length)))
  }

  #position(subscription: Subscription): number {
    return this.#order.get(subscription.id) ?? 0
  }

  #sameRoute(subscription: Subscription): Subscription | undefined {
    const [index, name] = this.#index(subscription)
    return index.get(name)?.get(subscription.agentType)
  }

  #index(subscription: Subscription): [Map<string, Map<string, Subscription>>, string] {
    return subscription.kind === "type"
      ? [this.#byTopicType, subscription.topicType]
      : [this.#byPrefix, subscription.topicTypePrefix]
  }
}

function exists(message: string): GloveboxError {
  return new GloveboxError("SUBSCRIPTION_ALREADY_EXISTS", message)
}

function describeRoute(subscription: Subscription): string {
  const topics =
    subscription.kind === "type"
      ? `topic type "${subscription.topicType}"`
      : `topic types starting with "${subscription.topicTypePrefix}"`
  return `A subscription of agent type "${subscription.agentType}" to ${topics}`
}
