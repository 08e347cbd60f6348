import type { ToolLike, ToolSchema } from "../../models/index.ts"
import type { Redactor } from "../redaction/redactor.ts"

/** Tools as a model is told of them: a server that describes its own may say more than it should. */
export function redactTools(tools: readonly ToolLike[], redactor: Redactor): readonly ToolLike[] {
  return tools.map((tool) => {
    const { name, description, parameters, ...rest } = "schema" in tool ? tool.schema : tool
    const told = JSON.stringify([description, parameters])
    if (redactor.text(told) === told) return tool
    return {
      ...rest,
      name,
      description: description === undefined ? undefined : redactor.text(description),
      parameters: redactTexts(parameters, redactor) as ToolSchema["parameters"],
    }
  })
}

// Keys stay, whatever they are called: they are names of arguments.
function redactTexts(value: unknown, redactor: Redactor): unknown {
  if (typeof value === "string") return redactor.text(value)
  if (Array.isArray(value)) return value.map((item) => redactTexts(item, redactor))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redactTexts(item, redactor)]))
}
