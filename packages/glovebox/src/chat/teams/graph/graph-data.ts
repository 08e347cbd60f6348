import { z } from "zod"
import type { ChatMessage } from "../../messages/index.ts"

/**
 * How the edges of a group start their node. "all": when each of its sources has spoken since the group started it
 * last. "any": with the first; those who come later in the same round start nothing, and a loop begins a new round.
 * For a turn after each of them, give each edge a group of its own.
 */
export type Activation = "all" | "any"

/** A text that must be in what the node said last, or a function of that message. */
export type EdgeCondition = string | ((message: ChatMessage) => boolean)

export interface EdgeOptions {
  /** When the edge is taken. @default always */
  readonly condition?: EdgeCondition | undefined
  /** Edges into one node that count together; each group can start the node. @default the name of the target */
  readonly activationGroup?: string | undefined
  /** How the edges of the group count; the same for all of them. @default the activation of the target */
  readonly activationCondition?: Activation | undefined
}

export interface NodeOptions {
  /** For the edges into this node that do not say it themselves. @default "all" */
  readonly activation?: Activation | undefined
}

/** A graph as it is written by hand; nodes are named after the participants. */
export interface DiGraphOptions {
  readonly nodes: Readonly<
    Record<
      string,
      NodeOptions & { readonly edges?: readonly (EdgeOptions & { readonly target: string })[] | undefined }
    >
  >
  /** Where it begins. @default with every node that no edge leads to */
  readonly defaultStartNode?: string | undefined
}

const activation = z.enum(["all", "any"])

export const nodeOptionsSchema = z.strictObject({ activation: activation.optional() })

export const edgeOptionsSchema = z.strictObject({
  condition: z
    .union([
      // An empty text is in every message, and nobody means that.
      z.string().min(1),
      z.custom<(message: ChatMessage) => boolean>((value) => typeof value === "function"),
    ])
    .optional(),
  activationGroup: z.string().min(1).optional(),
  activationCondition: activation.optional(),
})

export const graphSchema = z.strictObject({
  nodes: z.record(
    z.string(),
    nodeOptionsSchema.extend({
      edges: z.array(edgeOptionsSchema.extend({ target: z.string() })).default([]),
    }),
  ),
  defaultStartNode: z.string().optional(),
})
