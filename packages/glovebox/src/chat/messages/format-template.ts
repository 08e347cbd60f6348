import type { JsonValue } from "../../core/index.ts"

/** Puts fields into a text: `{name}` stands for a field, `{a.b}` for one inside; what is not there stays as it is. */
export function formatTemplate(
  template: string,
  fields: JsonValue | Readonly<Record<string, unknown>>,
): string {
  return template.replace(/\{([\w$.-]+)\}/g, (whole, path: string) => {
    const value = path.split(".").reduce<unknown>(fieldOf, fields)
    if (value === undefined) return whole
    return typeof value === "string" ? value : JSON.stringify(value)
  })
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Readonly<Record<string, unknown>>)[name]
}
