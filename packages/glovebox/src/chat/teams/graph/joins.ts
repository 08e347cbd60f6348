import type { DiGraph } from "./di-graph.ts"
import type { GraphState } from "./graph-state.ts"
import { type JoinGroup, groupKey } from "./join-group.ts"

/** What a turn follows: of each node, the number of the latest turn that led to it. */
export type Past = ReadonlyMap<string, number>

/** Edges that have arrived at nodes, and which of them start a turn. */
export class Joins {
  readonly #groups: ReadonlyMap<string, JoinGroup>
  /** For "all": who has arrived since the group started a turn, and what led to it. */
  readonly #arrived = new Map<string, Map<string, Past>>()
  /** For "any": what led to the last turn that the group started. */
  readonly #served = new Map<string, Past>()

  constructor({ groups }: DiGraph) {
    this.#groups = new Map(groups.map((group) => [groupKey(group.target, group.name), group]))
  }

  /** Says what the turn follows that the group starts now, if it does. */
  arrive(target: string, name: string, source: string, past: Past): Past | undefined {
    const key = groupKey(target, name)
    const group = this.#groups.get(key)
    if (!group) return undefined
    return group.activation === "any" ? this.#first(key, target, past) : this.#last(key, group, source, past)
  }

  /** The first of a round starts a turn. Later ones of it, which follow nothing newer, find it taken. */
  #first(key: string, target: string, past: Past): Past | undefined {
    const served = this.#served.get(key)
    if (served && ![...served].some(([node, turn]) => (past.get(node) ?? 0) > turn)) return undefined
    // A loop comes back with a turn of the target itself behind it.
    this.#served.set(key, new Map([[target, 0], ...past]))
    return past
  }

  #last(key: string, { sources }: JoinGroup, source: string, past: Past): Past | undefined {
    const arrived = this.#arrived.get(key) ?? new Map<string, Past>()
    this.#arrived.set(key, arrived.set(source, past))
    if (arrived.size < sources.length) return undefined
    this.#arrived.delete(key)
    return latest([...arrived.values()])
  }

  /** Nodes that some have arrived at, and whom they still wait for. */
  get waiting(): readonly { readonly target: string; readonly missing: readonly string[] }[] {
    return [...this.#arrived].flatMap(([key, arrived]) => {
      const group = this.#groups.get(key)
      if (!group) return []
      return [{ target: group.target, missing: group.sources.filter((source) => !arrived.has(source)) }]
    })
  }

  clear(): void {
    this.#arrived.clear()
    this.#served.clear()
  }

  save(): Pick<GraphState, "arrived" | "served"> {
    return {
      arrived: [...this.#arrived].flatMap(([group, arrived]) =>
        [...arrived].map(([source, past]) => ({ group, source, past: [...past] })),
      ),
      served: [...this.#served].map(([group, past]) => ({ group, past: [...past] })),
    }
  }

  load({ arrived, served }: Pick<GraphState, "arrived" | "served">): void {
    this.clear()
    for (const { group, source, past } of arrived) {
      const sources = this.#arrived.get(group) ?? new Map<string, Past>()
      this.#arrived.set(group, sources.set(source, new Map(past)))
    }
    for (const { group, past } of served) this.#served.set(group, new Map(past))
  }
}

function latest(pasts: readonly Past[]): Past {
  const merged = new Map<string, number>()
  for (const past of pasts) {
    for (const [node, turn] of past) merged.set(node, Math.max(turn, merged.get(node) ?? 0))
  }
  return merged
}
