import { z } from "zod"
import { readOptions } from "../../core/read-options.ts"
import { GloveboxError } from "../../core/index.ts"
import type { ToolSchema } from "../../models/index.ts"
import { TOOL_NAME } from "../../tools/tool-definition.ts"

export interface HandoffOptions {
  /** The name of whoever is to go on. */
  readonly target: string
  /** What the model calls: letters, digits, "_" and "-". @default "transfer_to_" and the target in lower case */
  readonly name?: string | undefined
  /** When to hand off: the model reads it. @default a sentence with the target */
  readonly description?: string | undefined
  /** What the target is told. @default a sentence with the target */
  readonly message?: string | undefined
}

/** A way to pass the word to somebody, which a model sees as a tool without arguments. */
export type Handoff = Readonly<Record<"target" | "name" | "description" | "message", string>>

const schema = z.strictObject({
  target: z.string().min(1, "is empty: it names whoever is to go on"),
  name: z.string().optional(),
  description: z.string().optional(),
  message: z.string().optional(),
})

/**
 * Describes a handoff; where the defaults will do, the target's name alone is enough.
 *
 * @example
 * handoffs: ["reviewer", handoff({ target: "user", message: "Please decide." })]
 */
export function handoff(options: HandoffOptions): Handoff {
  const { target, ...given } = readOptions("the handoff", schema, options)
  const {
    name = `transfer_to_${target.toLowerCase()}`,
    description = `Hand the conversation over to ${target}.`,
    message = `The conversation goes on with ${target}.`,
  } = given
  if (!TOOL_NAME.test(name)) {
    throw new GloveboxError(
      "OPTION_INVALID",
      `${JSON.stringify(name)} is no name for the handoff to ${target}: models call it as a tool. ` +
        'Give it one of letters, digits, "_" and "-", at most 64: handoff({ target, name }).',
    )
  }
  return Object.freeze({ target, name, description, message })
}

/** As a model sees it. */
export function handoffSchema({ name, description }: Handoff): ToolSchema {
  const parameters = { type: "object", properties: {}, required: [], additionalProperties: false }
  return { name, description, parameters, strict: true }
}
