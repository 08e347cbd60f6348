import { z } from "zod"
import { GloveboxError } from "../../../core/index.ts"
import { DiGraph } from "./di-graph.ts"

const activation = z.enum(["all", "any"])

/** A graph in a team's configuration; the names are AutoGen's. */
export const graphConfigSchema = z.object({
  nodes: z.record(
    z.string(),
    z.object({
      name: z.string().optional(),
      edges: z.array(
        z.object({
          target: z.string(),
          condition: z.string().nullish(),
          activation_group: z.string().nullish(),
          activation_condition: activation.nullish(),
        }),
      ),
      activation: activation.nullish(),
    }),
  ),
  default_start_node: z.string().nullish(),
})

export type GraphConfig = z.output<typeof graphConfigSchema>

/** @throws COMPONENT_INVALID when a condition is a function */
export function dumpGraph({ nodes, defaultStartNode }: DiGraph): GraphConfig {
  const written = [...nodes.values()].map(({ name, edges, activation: own }) => {
    const config = edges.map(({ target, condition, activationGroup, activationCondition }) => {
      if (typeof condition === "function") {
        throw new GloveboxError(
          "COMPONENT_INVALID",
          `The condition of the edge from ${name} to ${target} is a function, which cannot be written down as data. Use a text.`,
        )
      }
      return {
        target,
        condition: condition ?? null,
        activation_group: activationGroup,
        activation_condition: activationCondition,
      }
    })
    return [name, { name, edges: config, activation: own }] as const
  })
  return { nodes: Object.fromEntries(written), default_start_node: defaultStartNode ?? null }
}

export function loadGraph({ nodes, default_start_node: start }: GraphConfig): DiGraph {
  const read = Object.entries(nodes).map(([key, { name, edges, activation: own }]) => {
    if (name !== undefined && name !== key) {
      throw new GloveboxError("GRAPH_INVALID", `The node ${key} calls itself ${name}. Use one name.`)
    }
    const options = edges.map((edge) => ({
      target: edge.target,
      condition: edge.condition ?? undefined,
      // AutoGen writes an empty text for a group that was not named.
      activationGroup: edge.activation_group || undefined,
      activationCondition: edge.activation_condition ?? undefined,
    }))
    return [key, { activation: own ?? undefined, edges: options }] as const
  })
  return new DiGraph({ nodes: Object.fromEntries(read), defaultStartNode: start ?? undefined })
}
