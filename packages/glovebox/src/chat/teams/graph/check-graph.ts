import { GloveboxError } from "../../../core/index.ts"
import { nearest } from "../../../internal/nearest.ts"
import type { DiGraph } from "./di-graph.ts"
import { findCycle } from "./find-cycle.ts"
import { groupKey } from "./join-group.ts"

/** @throws GRAPH_INVALID with everything that is wrong */
export function checkGraph(graph: DiGraph): void {
  const problems = graph.nodes.size === 0 ? ["it has no nodes"] : namesIn(graph)
  // What follows would only repeat that a name is wrong.
  if (problems.length === 0) {
    problems.push(...starts(graph), ...mixedEdges(graph), ...mixedGroups(graph), ...endlessLoops(graph))
  }
  if (problems.length === 0) problems.push(...deadJoins(graph))
  if (problems.length === 0) return
  throw new GloveboxError("GRAPH_INVALID", `The graph cannot be run: ${problems.join("; ")}.`)
}

function namesIn({ nodes, defaultStartNode }: DiGraph): string[] {
  const known = [...nodes.keys()]
  const meant = (name: string): string => {
    const near = nearest(name, known)
    return near === undefined ? `The nodes are ${known.join(", ")}` : `Did you mean ${near}?`
  }
  const problems: string[] = []
  for (const { name, edges } of nodes.values()) {
    for (const { target } of edges) {
      if (!nodes.has(target))
        problems.push(`${name} has an edge to ${target}, which is no node. ${meant(target)}`)
    }
  }
  if (defaultStartNode !== undefined && !nodes.has(defaultStartNode)) {
    problems.push(`it is to begin with ${defaultStartNode}, which is no node. ${meant(defaultStartNode)}`)
  }
  return problems
}

function starts({ startNodes }: DiGraph): string[] {
  if (startNodes.length > 0) return []
  return ["there is an edge to every node, so it has no beginning. Say where it begins with setEntryPoint"]
}

// Beside edges with a condition, one without reads like "otherwise", and would mean "always".
function mixedEdges({ nodes }: DiGraph): string[] {
  return [...nodes.values()]
    .filter(({ edges }) => new Set(edges.map(({ condition }) => condition === undefined)).size > 1)
    .map(
      ({ name }) =>
        `${name} has edges with a condition and edges without. Give each of them one; () => true is always taken`,
    )
}

function mixedGroups({ nodes, groups }: DiGraph): string[] {
  const mixed = new Set<string>()
  const activations = new Map(
    groups.map(({ target, name, activation }) => [groupKey(target, name), activation]),
  )
  for (const { edges } of nodes.values()) {
    for (const { target, activationGroup: name, activationCondition } of edges) {
      if (activations.get(groupKey(target, name)) === activationCondition) continue
      mixed.add(
        `some edges of group ${name} into ${target} wait for all and some for any. Make them the same, or give them different groups`,
      )
    }
  }
  return [...mixed]
}

function endlessLoops({ nodes }: DiGraph): string[] {
  const always = (name: string): readonly { readonly target: string }[] =>
    nodes.get(name)?.edges.filter(({ condition }) => condition === undefined) ?? []
  const cycle = findCycle([...nodes.keys()], always)
  if (!cycle) return []
  return [`nothing ends the loop ${cycle.join(" -> ")}. Give one of its edges a condition`]
}

/** Nodes that somebody leads to and that can never begin: they wait for one who can only speak after them. */
function deadJoins(graph: DiGraph): string[] {
  const live = canSpeak(graph)
  return graph.groups
    .filter(({ target, sources }) => !live.has(target) && sources.some((source) => live.has(source)))
    .map(({ target, sources }) => {
      const missing = sources.filter((source) => !live.has(source)).join(", ")
      return `${target} waits for ${missing}, who cannot speak before it. Put those edges into an activationGroup of their own, or let ${target} begin with any`
    })
}

/** The nodes that can come to speak when every condition holds. */
function canSpeak({ nodes, startNodes, groups }: DiGraph): ReadonlySet<string> {
  const missing = new Map(
    groups.map(({ target, name, activation, sources }) => [
      groupKey(target, name),
      new Set(activation === "all" ? sources : []),
    ]),
  )
  // A set is walked to its end, with what is added on the way.
  const live = new Set(startNodes)
  for (const source of live) {
    for (const { target, activationGroup } of nodes.get(source)?.edges ?? []) {
      const waitsFor = missing.get(groupKey(target, activationGroup))
      waitsFor?.delete(source)
      if (waitsFor?.size === 0) live.add(target)
    }
  }
  return live
}
