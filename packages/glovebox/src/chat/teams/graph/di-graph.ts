import { readOptions } from "../../../core/read-options.ts"
import { checkGraph } from "./check-graph.ts"
import { findCycle } from "./find-cycle.ts"
import { type Activation, type DiGraphOptions, type EdgeCondition, graphSchema } from "./graph-data.ts"
import { type JoinGroup, joinGroups } from "./join-group.ts"

export interface DiGraphEdge {
  readonly target: string
  readonly condition: EdgeCondition | undefined
  readonly activationGroup: string
  readonly activationCondition: Activation
}

export interface DiGraphNode {
  readonly name: string
  readonly edges: readonly DiGraphEdge[]
  readonly activation: Activation
}

/** Who speaks after whom. It is checked when it is made, and does not change. */
export class DiGraph {
  readonly nodes: ReadonlyMap<string, DiGraphNode>
  readonly defaultStartNode: string | undefined
  /** Where a run begins. */
  readonly startNodes: readonly string[]
  /** Nodes that no edge leaves. */
  readonly leafNodes: readonly string[]
  /** The edges that count together, by their target. */
  readonly groups: readonly JoinGroup[]

  /** @throws GRAPH_INVALID with everything that is wrong with it */
  constructor(options: DiGraphOptions) {
    const read = readOptions("DiGraph", graphSchema, options, { code: "GRAPH_INVALID" })
    const activations = new Map(
      Object.entries(read.nodes).map(([name, { activation = "all" }]) => [name, activation]),
    )
    const nodes = Object.entries(read.nodes).map(([name, { edges, activation = "all" }]): DiGraphNode => ({
      name,
      activation,
      edges: edges.map(({ target, condition, activationGroup = target, activationCondition }) => ({
        target,
        condition,
        activationGroup,
        activationCondition: activationCondition ?? activations.get(target) ?? "all",
      })),
    }))
    this.nodes = new Map(nodes.map((node) => [node.name, node]))
    this.defaultStartNode = read.defaultStartNode
    this.groups = joinGroups(nodes)
    const targets = new Set(this.groups.map(({ target }) => target))
    this.startNodes =
      this.defaultStartNode === undefined
        ? [...this.nodes.keys()].filter((name) => !targets.has(name))
        : [this.defaultStartNode]
    this.leafNodes = nodes.filter(({ edges }) => edges.length === 0).map(({ name }) => name)
    checkGraph(this)
  }

  /** A loop of it: its nodes in order, the first one again at the end. */
  get cycle(): readonly string[] | undefined {
    return findCycle([...this.nodes.keys()], (name) => this.nodes.get(name)?.edges ?? [])
  }
}
