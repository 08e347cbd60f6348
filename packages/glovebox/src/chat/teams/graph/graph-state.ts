import { z } from "zod"
import { GloveboxError, type JsonObject } from "../../../core/index.ts"
import { formatIssues } from "../../../internal/format-issues.ts"
import type { DiGraph } from "./di-graph.ts"
import { groupKey } from "./join-group.ts"

const turn = z.int().positive()
const past = z.array(z.tuple([z.string(), z.int().nonnegative()]))

const schema = z.strictObject({
  phase: z.enum(["new", "under-way", "complete"]),
  /** Turns that have not ended, in the order in which they may begin. */
  due: z.array(z.strictObject({ node: z.string(), turn, past })),
  turns: z.array(z.tuple([z.string(), turn])),
  unmatched: z.array(z.string()),
  arrived: z.array(z.strictObject({ group: z.string(), source: z.string(), past })),
  served: z.array(z.strictObject({ group: z.string(), past })),
})

/** How far a run through a graph has come, as JSON. */
export type GraphState = z.infer<typeof schema>

/** @throws STATE_INVALID when it is no such state, or one of another graph */
export function readGraphState({ nodes, groups }: DiGraph, state: JsonObject): GraphState {
  const { data, error } = schema.safeParse(state)
  if (error) throw invalid(`This is no state of a graph: ${formatIssues(error.issues)}`)
  const node = data.due.find((due) => !nodes.has(due.node))
  if (node)
    throw invalid(`The state is of another graph: ${node.node} is to speak, and is no node of this one.`)
  const sources = new Map(groups.map((group) => [groupKey(group.target, group.name), group.sources]))
  for (const { group, source } of data.arrived) {
    if (sources.get(group)?.includes(source)) continue
    throw invalid(`The state is of another graph: this one has no edge from ${source} in group ${group}.`)
  }
  return data
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("STATE_INVALID", message)
}
