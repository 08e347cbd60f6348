import { GloveboxError } from "../../core/index.ts"
import { describe } from "../../internal/describe.ts"
import { isPythonName } from "./python-names.ts"

/** An import that functions need: `"math"`, `"numpy as np"`, or the same in parts. */
export type PythonImport =
  | string
  | { readonly module: string; readonly as?: string | undefined }
  | {
      readonly from: string
      readonly names: readonly (string | { readonly name: string; readonly as?: string | undefined })[]
    }

/** The import as a line of Python; FUNCTION_INVALID when its names are none. */
export function importLine(value: PythonImport): string {
  const line = lineOf(value)
  if (line !== undefined) return line
  throw new GloveboxError(
    "FUNCTION_INVALID",
    `The import ${describe(value)} is not usable. Pass "math", "numpy as np", { module, as } or { from, names }.`,
  )
}

function lineOf(value: unknown): string | undefined {
  if (typeof value === "string") {
    const [module, alias, ...others] = value.split(" as ")
    return others.length === 0 ? importOf(module, alias) : undefined
  }
  if (typeof value !== "object" || value === null) return undefined
  const { module, as, from, names } = value as Record<string, unknown>
  if (from === undefined && names === undefined) return importOf(module, as)
  if (module !== undefined || as !== undefined) return undefined
  if (!isDotted(from) || !Array.isArray(names) || names.length === 0) return undefined
  // Such an import must be a file's first statement, and the functions share one file.
  if (from === "__future__") return undefined
  const parts = names.map(partOf)
  return parts.includes(undefined) ? undefined : `from ${from} import ${parts.join(", ")}`
}

function importOf(module: unknown, alias: unknown): string | undefined {
  if (!isDotted(module)) return undefined
  if (alias === undefined) return `import ${module}`
  return isName(alias) ? `import ${module} as ${alias}` : undefined
}

function partOf(part: unknown): string | undefined {
  if (typeof part === "string") return isName(part) ? part : undefined
  const { name, as } = (part ?? {}) as Record<string, unknown>
  if (!isName(name)) return undefined
  if (as === undefined) return name
  return isName(as) ? `${name} as ${as}` : undefined
}

function isDotted(value: unknown): value is string {
  return typeof value === "string" && value.split(".").every(isName)
}

function isName(value: unknown): value is string {
  return typeof value === "string" && isPythonName(value)
}
