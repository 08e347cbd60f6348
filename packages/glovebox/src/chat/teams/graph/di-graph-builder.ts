import { GloveboxError } from "../../../core/index.ts"
import { readOptions } from "../../../core/read-options.ts"
import { describe } from "../../../internal/describe.ts"
import { nearest } from "../../../internal/nearest.ts"
import type { Participant } from "../participant.ts"
import { DiGraph } from "./di-graph.ts"
import {
  type Activation,
  type EdgeOptions,
  type NodeOptions,
  edgeOptionsSchema,
  nodeOptionsSchema,
} from "./graph-data.ts"

interface Node {
  readonly participant: Participant
  activation: Activation | undefined
  readonly edges: (EdgeOptions & { readonly target: string })[]
}

/**
 * Draws a graph of agents.
 *
 * @example
 * const graph = new DiGraphBuilder()
 *   .addEdge(writer, critic)
 *   .addEdge(critic, writer, { condition: "REVISE" })
 *   .addEdge(critic, editor, { condition: "APPROVED" })
 *   .setEntryPoint(writer)
 * const flow = new GraphFlow({ graph, maxTurns: 20 })
 */
export class DiGraphBuilder {
  readonly #nodes = new Map<string, Node>()
  #entryPoint: string | undefined

  /** The agents and teams of the graph, in the order in which they were added. */
  get participants(): readonly Participant[] {
    return [...this.#nodes.values()].map(({ participant }) => participant)
  }

  /** The same as `participants`. */
  getParticipants(): readonly Participant[] {
    return this.participants
  }

  /** Adds an agent or a team; adding it again changes nothing. */
  addNode(participant: Participant, options: NodeOptions = {}): this {
    const { activation } = readOptions("addNode", nodeOptionsSchema, options)
    const node = this.#add(participant)
    if (activation !== undefined && node.activation !== undefined && activation !== node.activation) {
      throw invalid(`${participant.name} was added with activation "${node.activation}" before.`)
    }
    node.activation ??= activation
    return this
  }

  /** After `source` comes `target`. An agent is added when it is new; a name must be known. */
  addEdge(source: Participant | string, target: Participant | string, options: EdgeOptions = {}): this {
    const read = readOptions("addEdge", edgeOptionsSchema, options)
    const from = this.#name(source)
    const to = this.#name(target)
    this.#nodes.get(from)?.edges.push({ ...read, target: to })
    return this
  }

  /** An edge for each text: it is taken when the text is in what `source` said. */
  addConditionalEdges(
    source: Participant | string,
    targets: Readonly<Record<string, Participant | string>>,
    options: Omit<EdgeOptions, "condition"> = {},
  ): this {
    for (const [condition, target] of Object.entries(targets)) {
      this.addEdge(source, target, { ...options, condition })
    }
    return this
  }

  /** Where the graph begins. Without it, with every node that no edge leads to. */
  setEntryPoint(node: Participant | string): this {
    this.#entryPoint = this.#name(node)
    return this
  }

  /** @throws GRAPH_INVALID with everything that is wrong */
  build(): DiGraph {
    const nodes = [...this.#nodes].map(
      ([name, { activation, edges }]) => [name, { activation, edges }] as const,
    )
    return new DiGraph({ nodes: Object.fromEntries(nodes), defaultStartNode: this.#entryPoint })
  }

  #add(participant: Participant): Node {
    const given: unknown = participant
    if (typeof given !== "object" || given === null || !("runStream" in given)) {
      throw invalid(`${describe(given)} is no agent and no team, so it cannot be a node.`)
    }
    const node = this.#nodes.get(participant.name) ?? { participant, activation: undefined, edges: [] }
    if (node.participant !== participant) {
      throw invalid(`There are two nodes called ${participant.name}. Give each its own name.`)
    }
    this.#nodes.set(participant.name, node)
    return node
  }

  #name(node: Participant | string): string {
    if (typeof node !== "string") return this.#add(node).participant.name
    if (this.#nodes.has(node)) return node
    const known = [...this.#nodes.keys()]
    const near = nearest(node, known)
    throw invalid(
      `There is no node called ${describe(node)} yet.${near === undefined ? "" : ` Did you mean ${near}?`} ` +
        `Pass the agent, or add it first. Known: ${known.join(", ") || "none"}.`,
    )
  }
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("GRAPH_INVALID", message)
}
