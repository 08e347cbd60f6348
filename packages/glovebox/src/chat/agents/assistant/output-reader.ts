import { GloveboxError, type JsonValue } from "../../../core/index.ts"
import { checkJson } from "../../../core/json.ts"
import { errorMessage } from "../../../internal/error-message.ts"
import { formatIssues } from "../../../internal/format-issues.ts"
import type { OutputSchema } from "../../../models/index.ts"
import { type OutputFormat, readOutputFormat } from "../../../models/output-format.ts"
import { jsonSchemaCheck } from "../../../tools/json-schema-check.ts"

type SchemaFormat = Extract<OutputFormat, { readonly type: "schema" }>

/** What an answer is, or why it does not fit. */
export type ReadOutput = { readonly value: JsonValue } | { readonly problem: string }

/** Reads answers that have to fit a schema. */
export class OutputReader {
  /** As the model client takes it. */
  readonly schema: OutputSchema
  /** As a model is told of it. */
  readonly format: SchemaFormat
  /** How a person reads the answer. */
  readonly formatString: string | undefined
  readonly #check: (value: unknown) => Promise<Checked>

  constructor(schema: OutputSchema, formatString: string | undefined) {
    const format = readOutputFormat(schema)
    if (format?.type !== "schema") {
      throw new GloveboxError(
        "OPTION_INVALID",
        "outputContentType is no schema. Pass zod's, or { name, schema }.",
      )
    }
    this.schema = schema
    this.format = format
    this.formatString = formatString
    this.#check =
      "~standard" in schema
        ? async (value) => schema["~standard"].validate(value)
        : jsonSchemaCheck(schema.schema)
  }

  async read(text: string): Promise<ReadOutput> {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch (error) {
      return { problem: `it is no JSON: ${errorMessage(error)}` }
    }
    const checked = await this.#check(value)
    if (checked.issues) return { problem: formatIssues(checked.issues) }
    try {
      checkJson(checked.value)
    } catch (error) {
      // No other answer of the model would change it.
      throw new GloveboxError(
        "OUTPUT_INVALID",
        `The schema ${this.format.name} makes of an answer what JSON cannot hold: ${errorMessage(error)}. Leave out its transforms.`,
      )
    }
    return { value: checked.value as JsonValue }
  }
}

type Checked = Awaited<ReturnType<ReturnType<typeof jsonSchemaCheck>>>
