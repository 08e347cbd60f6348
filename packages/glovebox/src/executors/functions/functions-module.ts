import { GloveboxError } from "../../core/index.ts"
import type { PythonFunction } from "./python-function.ts"
import { importLine } from "./python-import.ts"
import { checkModuleName } from "./python-names.ts"

/** The text of a Python module that holds these functions, after the imports that any of them needs. */
export function functionsModule(functions: readonly PythonFunction[]): string {
  checkDistinct(functions)
  const imports = [...new Set(functions.flatMap((each) => each.imports.map(importLine)))]
  const sources = functions.map(({ source }) => `${source}\n`)
  return [imports.map((line) => `${line}\n`).join(""), sources.join("\n\n")]
    .filter((part) => part !== "")
    .join("\n")
}

/** What a model is told of the functions: where to import them from, and how each one is called. */
export function describeFunctions(functions: readonly PythonFunction[], moduleName: string): string {
  checkModuleName(moduleName)
  checkDistinct(functions)
  const [first] = functions
  if (!first) return ""
  const example = `from ${moduleName} import ${first.name}`
  const intro = `The Python module \`${moduleName}\` has the functions below. Import those you use, for example \`${example}\`.`
  return [intro, ...functions.map(stubOf)].join("\n\n")
}

function stubOf({ signature, description }: PythonFunction): string {
  const docstring = description?.replaceAll('"""', "'''").split("\n") ?? []
  const quoted =
    docstring.length > 1 ? ['"""', ...docstring, '"""'] : docstring.map((line) => `"""${line}"""`)
  const body = [...quoted, "..."].map((line) => (line === "" ? "" : `    ${line}`))
  return [`${signature}:`, ...body].join("\n")
}

function checkDistinct(functions: readonly PythonFunction[]): void {
  const names = functions.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice === undefined) return
  throw new GloveboxError("FUNCTION_INVALID", `Two functions are called ${twice}. Give each its own name.`)
}
