import type { DiGraphNode } from "./di-graph.ts"
import type { Activation } from "./graph-data.ts"

/** The edges into a node that count together. */
export interface JoinGroup {
  readonly target: string
  readonly name: string
  readonly activation: Activation
  /** The nodes that they come from: two edges from one node are as good as one. */
  readonly sources: readonly string[]
}

/** Names have no slash, so no two groups have the same key. */
export function groupKey(target: string, name: string): string {
  return `${target}/${name}`
}

/** The groups of a graph; of edges that contradict each other the first one counts. */
export function joinGroups(nodes: readonly DiGraphNode[]): readonly JoinGroup[] {
  const groups = new Map<string, JoinGroup & { readonly sources: string[] }>()
  for (const { name: source, edges } of nodes) {
    for (const { target, activationGroup: name, activationCondition: activation } of edges) {
      const key = groupKey(target, name)
      const group = groups.get(key) ?? { target, name, activation, sources: [] }
      groups.set(key, group)
      if (!group.sources.includes(source)) group.sources.push(source)
    }
  }
  return [...groups.values()]
}
