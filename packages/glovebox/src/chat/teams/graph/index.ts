export { DiGraphBuilder } from "./di-graph-builder.ts"
export { DiGraph, type DiGraphEdge, type DiGraphNode } from "./di-graph.ts"
export type { Activation, DiGraphOptions, EdgeCondition, EdgeOptions, NodeOptions } from "./graph-data.ts"
export { GraphFlow, type GraphFlowOptions } from "./graph-flow.ts"
