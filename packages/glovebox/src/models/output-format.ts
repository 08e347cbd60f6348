import { GloveboxError } from "../core/index.ts"
import { describe } from "../internal/describe.ts"
import { errorMessage } from "../internal/error-message.ts"
import type { CreateOptions, OutputSchema } from "./chat-completion-client.ts"

/** How the answer has to look. */
export type OutputFormat =
  | { readonly type: "json" }
  | {
      readonly type: "schema"
      readonly name: string
      readonly schema: Readonly<Record<string, unknown>>
      readonly strict: boolean
    }

/** Reads `jsonOutput`; undefined means that any text will do. */
export function readOutputFormat(output: CreateOptions["jsonOutput"]): OutputFormat | undefined {
  if (output === undefined || output === false) return undefined
  if (output === true) return { type: "json" }
  const isSchema = (typeof output === "object" && output !== null) || typeof output === "function"
  if (!isSchema) throw invalid(`jsonOutput is ${describe(output)}. Pass true, a schema, or { name, schema }.`)
  const { name, schema, strict } = "~standard" in output ? fromStandard(output) : output
  if (typeof schema !== "object" || schema === null || typeof name !== "string") {
    throw invalid(`jsonOutput is ${describe(output)}. Pass true, a schema, or { name, schema }.`)
  }
  if (!/^[\w-]{1,64}$/.test(name)) {
    throw invalid(
      `The name ${describe(name)} of jsonOutput is not valid. Use letters, digits, "_" and "-", at most 64.`,
    )
  }
  return { type: "schema", name, schema, strict: strict ?? isStrict(schema) }
}

function fromStandard(output: Extract<OutputSchema, { "~standard": unknown }>): {
  readonly name: string
  readonly schema: Readonly<Record<string, unknown>>
  readonly strict?: boolean
} {
  const converter: unknown = output["~standard"].jsonSchema
  if (typeof converter !== "object" || converter === null) {
    throw invalid(
      `jsonOutput is a schema of ${output["~standard"].vendor}, which gives no JSON Schema. Pass { name, schema } with JSON Schema.`,
    )
  }
  try {
    // The model writes what the schema reads: its input, before defaults and transforms.
    const {
      $schema: _dialect,
      title,
      ...schema
    } = output["~standard"].jsonSchema.input({
      target: "draft-2020-12",
    })
    const name = typeof title === "string" ? title.replace(/[^\w-]/g, "_").slice(0, 64) : ""
    return { name: name === "" ? "answer" : name, schema: closed(schema) as Record<string, unknown> }
  } catch (cause) {
    throw invalid(`jsonOutput cannot be written as JSON Schema: ${errorMessage(cause)}`, cause)
  }
}

/** The schema with no room for other properties: the model need not invent what is not asked for. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== "object" || schema === null) return schema
  // The parts of an intersection would refuse one another's properties.
  const entries = Object.entries(schema).map(([key, value]) => [
    key,
    key === "allOf" || key === "enum" || key === "const" ? value : closed(value),
  ])
  const copy = Object.fromEntries(entries) as Record<string, unknown>
  if (copy["type"] === "object" && "properties" in copy) copy["additionalProperties"] ??= false
  return copy
}

/** True when every object is closed and wants all of its properties, which is what providers call strict. */
function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict)
  if (typeof schema !== "object" || schema === null) return true
  const { type, properties, required, additionalProperties } = schema as Record<string, unknown>
  if (type === "object") {
    if (typeof properties !== "object" || properties === null || additionalProperties !== false) return false
    const wanted = new Set(Array.isArray(required) ? required : [])
    if (!Object.keys(properties).every((name) => wanted.has(name))) return false
  }
  return Object.values(schema).every(isStrict)
}

function invalid(message: string, cause?: unknown): GloveboxError {
  return new GloveboxError("MODEL_REQUEST_INVALID", message, { cause })
}
