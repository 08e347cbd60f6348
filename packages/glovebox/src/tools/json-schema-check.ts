import type { StandardSchemaV1 } from "@standard-schema/spec"
import { errorMessage } from "../internal/error-message.ts"

export type JsonSchema = Readonly<Record<string, unknown>>

type Check = (value: unknown) => StandardSchemaV1.Result<unknown>

/** A check by plain JSON Schema; the validator is loaded with the first value. */
export function jsonSchemaCheck(schema: JsonSchema): (value: unknown) => Promise<ReturnType<Check>> {
  let check: Promise<Check> | undefined
  return async (value) => {
    check ??= makeCheck(schema)
    return (await check)(value)
  }
}

async function makeCheck(schema: JsonSchema): Promise<Check> {
  // It interprets the schema: others make code of it, which a sandbox's host should not do.
  const { Validator } = await import("@cfworker/json-schema")
  const validator = new Validator(schema, "2020-12", false)
  return (value) => {
    try {
      const { valid, errors } = validator.validate(value)
      return valid ? { value } : { issues: errors.filter(isLeaf).map(toIssue) }
    } catch (error) {
      return { issues: [{ message: `the schema cannot be used: ${errorMessage(error)}` }] }
    }
  }
}

interface SchemaError {
  readonly instanceLocation: string
  readonly keyword: string
  readonly error: string
}

// These say only that something below them is wrong, which has an error of its own.
const GROUPS = new Set(["properties", "items", "prefixItems", "$ref", "allOf", "additionalProperties"])

function isLeaf({ keyword }: SchemaError, index: number, all: readonly SchemaError[]): boolean {
  return !GROUPS.has(keyword) || index === all.length - 1
}

function toIssue({ instanceLocation, error }: SchemaError): StandardSchemaV1.Issue {
  const path = instanceLocation
    .split("/")
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"))
  return { message: error, path }
}
