import type { StandardSchemaV1 } from "@standard-schema/spec"
import { describe } from "./describe.ts"
import { errorMessage } from "./error-message.ts"

/** Checks a value by a schema, at once: a schema that waits or throws refuses the value. */
export function validateSync<Schema extends StandardSchemaV1>(
  schema: Schema,
  value: unknown,
): StandardSchemaV1.Result<StandardSchemaV1.InferOutput<Schema>> {
  try {
    const result = schema["~standard"].validate(value)
    if (!(result instanceof Promise)) {
      const { issues } = result ?? {}
      if (typeof result === "object" && result !== null && (issues === undefined || Array.isArray(issues)))
        return result
      return refusal(`the schema answers ${describe(result)} instead of a result`)
    }
    result.catch(() => {})
    // Zod answers with a promise also when a transform throws, and does not say which of the two it was.
    return refusal(
      "the schema checks asynchronously, or throws. Use a synchronous schema that reports issues",
    )
  } catch (error) {
    return refusal(`the schema throws: ${errorMessage(error)}`)
  }
}

/** Why a value cannot be used as a schema; undefined when it can. */
export function schemaProblem(schema: unknown): string | undefined {
  const standard = (schema as Partial<StandardSchemaV1> | null | undefined)?.["~standard"]
  if (typeof standard?.validate === "function") return undefined
  return `${describe(schema)} is not a schema. Use zod, or another Standard Schema.`
}

function refusal(message: string): StandardSchemaV1.FailureResult {
  return { issues: [{ message }] }
}
