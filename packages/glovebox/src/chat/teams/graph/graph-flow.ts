import { z } from "zod"
import { type ComponentModel, GloveboxError, defineComponent } from "../../../core/index.ts"
import { readOptions } from "../../../core/read-options.ts"
import { BaseGroupChat } from "../base-group-chat.ts"
import { type Participant, checkParticipants } from "../participant.ts"
import { dumpTeam, loadTeam, teamConfigShape } from "../team-component.ts"
import { type TeamOptions, teamOptionsShape } from "../team-options.ts"
import { DiGraphBuilder } from "./di-graph-builder.ts"
import { DiGraph } from "./di-graph.ts"
import { dumpGraph, graphConfigSchema, loadGraph } from "./graph-config.ts"
import { GraphPolicy } from "./graph-policy.ts"

export interface GraphFlowOptions extends TeamOptions {
  /** A builder brings its participants with it. */
  readonly graph: DiGraph | DiGraphBuilder
  /** One for each node, by name. @default those of the builder */
  readonly participants?: readonly Participant[] | undefined
}

const schema = z.strictObject({
  ...teamOptionsShape,
  participants: z.unknown().optional(),
  graph: z.union(
    [z.instanceof(DiGraph), z.instanceof(DiGraphBuilder)],
    "is no DiGraph and no DiGraphBuilder",
  ),
})

/**
 * The edges of a graph say who speaks after whom; several may speak at once, and everybody hears everything.
 *
 * A run that was ended in the middle goes on with the next one: turns that had not ended begin again, and a
 * task that is given then is heard by those who are next. A graph that came to its end begins anew, as it does
 * after `reset()`.
 *
 * @example
 * const graph = new DiGraphBuilder()
 *   .addEdge(writer, grammar)
 *   .addEdge(writer, style)
 *   .addEdge(grammar, editor)
 *   .addEdge(style, editor)
 * const { messages } = await new GraphFlow({ graph }).run("Write a paragraph about glass.")
 */
export class GraphFlow extends BaseGroupChat {
  static readonly definition = defineComponent({
    provider: "glovebox.teams.GraphFlow",
    aliases: ["autogen_agentchat.teams.GraphFlow"],
    type: "team",
    description: "A graph says who speaks after whom.",
    config: z.object({ ...teamConfigShape, graph: graphConfigSchema }),
    create: ({ graph, ...config }, loader) =>
      new GraphFlow({ ...loadTeam(config, loader), graph: loadGraph(graph) }),
  })

  readonly #graph: DiGraph

  constructor(options: GraphFlowOptions) {
    const { graph: given, ...read } = readOptions("GraphFlow", schema, options)
    const isBuilder = given instanceof DiGraphBuilder
    const graph = isBuilder ? given.build() : given
    const participants = options.participants ?? (isBuilder ? given.participants : undefined)
    if (!participants) {
      throw new GloveboxError(
        "TEAM_INVALID",
        "A GraphFlow of a DiGraph needs participants, one for each node.",
      )
    }
    checkParticipants("GraphFlow", participants)
    checkNodes(graph, participants)
    checkEnds(graph, read)
    super(participants, read, new GraphPolicy(graph))
    this.#graph = graph
  }

  override toComponent(): ComponentModel {
    return GraphFlow.definition.dump({
      ...dumpTeam(this.participants, this.options),
      graph: dumpGraph(this.#graph),
    })
  }
}

function checkNodes({ nodes }: DiGraph, participants: readonly Participant[]): void {
  const names = participants.map(({ name }) => name)
  const missing = [...nodes.keys()].filter((name) => !names.includes(name))
  const idle = names.filter((name) => !nodes.has(name))
  if (missing.length + idle.length === 0) return
  const problems = [
    ...missing.map((name) => `node ${name} has no participant`),
    ...idle.map((name) => `participant ${name} has no node`),
  ]
  throw new GloveboxError(
    "GRAPH_INVALID",
    `Nodes and participants must have the same names: ${problems.join("; ")}.`,
  )
}

function checkEnds(
  { cycle }: DiGraph,
  { terminationCondition, maxTurns }: Pick<TeamOptions, "terminationCondition" | "maxTurns">,
): void {
  if (!cycle || terminationCondition || maxTurns !== undefined) return
  throw new GloveboxError(
    "GRAPH_INVALID",
    `The graph has a loop, ${cycle.join(" -> ")}, that may go on for ever. Pass maxTurns or a terminationCondition.`,
  )
}
