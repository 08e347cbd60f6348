import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec"
import { z } from "zod"
import { GloveboxError } from "../core/index.ts"
import { describe } from "../internal/describe.ts"
import { errorMessage } from "../internal/error-message.ts"
import { isPlainObject } from "../internal/plain-object.ts"
import { type JsonSchema, jsonSchemaCheck } from "./json-schema-check.ts"

/** What describes a tool's arguments: a Standard Schema that gives JSON Schema, such as zod's, or JSON Schema itself. */
export type ToolParameters = StandardSchemaV1 | JsonSchema

/** What `execute` gets. */
export type ToolArguments<Parameters extends ToolParameters> = Parameters extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Parameters>
  : Readonly<Record<string, unknown>>

export interface ReadParameters {
  readonly schema: JsonSchema
  readonly check: (value: unknown) => Promise<StandardSchemaV1.Result<unknown>>
}

const NONE: JsonSchema = { type: "object", properties: {}, additionalProperties: false }

/** Reads the parameters of a tool; TOOL_INVALID for those that cannot be told to a model. */
export function readParameters(tool: string, parameters: unknown = NONE): ReadParameters {
  if (isStandard(parameters)) {
    const schema = objectSchema(tool, standardJsonSchema(tool, parameters))
    return { schema, check: async (value) => standardCheck(parameters, value) }
  }
  if (typeof parameters !== "object" || parameters === null || !isPlainObject(parameters)) {
    throw invalid(tool, `${describe(parameters)} is no schema. Pass zod's, or JSON Schema`)
  }
  if (Object.values(parameters).some(isStandard)) {
    throw invalid(tool, "they are an object of schemas. Put them into one: z.object({ ... })")
  }
  const schema = objectSchema(tool, parameters)
  return { schema, check: jsonSchemaCheck(schema) }
}

// A transform that throws is about the value, as an issue is.
async function standardCheck(
  schema: StandardSchemaV1,
  value: unknown,
): Promise<StandardSchemaV1.Result<unknown>> {
  try {
    return await schema["~standard"].validate(value)
  } catch (error) {
    return { issues: [{ message: errorMessage(error) }] }
  }
}

function isStandard(value: unknown): value is StandardSchemaV1 & Partial<StandardJSONSchemaV1> {
  // ArkType's schemas are functions.
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false
  return "~standard" in value && typeof value["~standard"] === "object"
}

function standardJsonSchema(tool: string, schema: StandardSchemaV1 & Partial<StandardJSONSchemaV1>): unknown {
  const standard: StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props> = schema["~standard"]
  try {
    if (standard.jsonSchema) return standard.jsonSchema.input({ target: "draft-2020-12" })
    // Zod before 4.2 has it as a function only.
    if ("_zod" in schema) return z.toJSONSchema(schema as unknown as z.ZodType, { io: "input" })
  } catch (cause) {
    throw invalid(tool, `their schema cannot be told as JSON Schema: ${errorMessage(cause)}`, cause)
  }
  throw invalid(
    tool,
    `a schema of ${describe(standard.vendor)} checks values but gives no JSON Schema. Use zod 4, wrap it by what the library has for "Standard JSON Schema", or pass JSON Schema itself`,
  )
}

function objectSchema(tool: string, given: unknown): JsonSchema {
  const { $schema: _, ...schema } = copy(tool, given)
  if (schema["type"] === "object") return { ...schema, properties: schema["properties"] ?? {} }
  throw invalid(
    tool,
    `models take an object of named arguments, and this is ${describe(schema["type"] ?? Object.keys(schema)[0])}. Use z.object({ ... }), or { type: "object", ... }`,
  )
}

// A copy, so that nobody changes what a model was told.
function copy(tool: string, given: unknown): Record<string, unknown> {
  try {
    return JSON.parse(JSON.stringify(given)) as Record<string, unknown>
  } catch (cause) {
    throw invalid(tool, `their schema is no JSON: ${errorMessage(cause)}`, cause)
  }
}

function invalid(tool: string, problem: string, cause?: unknown): GloveboxError {
  const message = `The parameters of tool ${tool} cannot be used: ${problem}.`
  return new GloveboxError("TOOL_INVALID", message, cause === undefined ? undefined : { cause })
}
