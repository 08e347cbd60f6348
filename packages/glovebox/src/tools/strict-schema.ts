import { GloveboxError } from "../core/index.ts"
import type { JsonSchema } from "./json-schema-check.ts"

/**
 * The schema as strict mode has it: no object takes fields that it does not name.
 *
 * @throws TOOL_INVALID for a field that may be absent: strict mode has none
 */
export function strictSchema(tool: string, schema: JsonSchema): JsonSchema {
  return visit(schema, "", tool) as JsonSchema
}

function visit(node: unknown, path: string, tool: string): unknown {
  if (Array.isArray(node)) return node.map((item, index) => visit(item, `${path}[${index}]`, tool))
  if (typeof node !== "object" || node === null) return node
  const inner = Object.fromEntries(
    Object.entries(node).map(([key, value]) => {
      if (KEPT.has(key)) return [key, value]
      return [key, (BY_NAME.has(key) ? visitEach : visit)(value, join(path, key), tool)]
    }),
  )
  if (!isOfObject(inner["type"])) return inner
  const { properties, required, additionalProperties } = inner
  if (additionalProperties !== undefined && additionalProperties !== false) {
    throw invalid(tool, `${at(path)} takes fields that it does not name`)
  }
  const optional = Object.keys((properties as object | undefined) ?? {}).filter(
    (key) => !(Array.isArray(required) && required.includes(key)),
  )
  if (optional.length > 0) {
    throw invalid(
      tool,
      `${optional.join(", ")} of ${at(path)} may be absent. Make it required, and let it be null instead`,
    )
  }
  return { ...inner, properties: properties ?? {}, required: required ?? [], additionalProperties: false }
}

// What it may be besides, such as null, does not matter.
function isOfObject(type: unknown): boolean {
  return type === "object" || (Array.isArray(type) && type.includes("object"))
}

// Schemas by names that somebody chose, which may be those of keywords.
const BY_NAME = new Set(["properties", "$defs", "definitions"])

function visitEach(node: unknown, path: string, tool: string): unknown {
  if (typeof node !== "object" || node === null || Array.isArray(node)) return node
  return Object.fromEntries(
    Object.entries(node).map(([name, schema]) => [name, visit(schema, join(path, name), tool)]),
  )
}

// They hold values, and not schemas.
const KEPT = new Set(["default", "examples", "const", "enum", "required"])

function join(path: string, key: string): string {
  if (key === "properties" || key === "items") return path
  return path === "" ? key : `${path}.${key}`
}

function at(path: string): string {
  return path === "" ? "the arguments" : path
}

function invalid(tool: string, problem: string): GloveboxError {
  return new GloveboxError("TOOL_INVALID", `Tool ${tool} cannot be strict: ${problem}.`)
}
