import { readFile } from "node:fs/promises"
import { GloveboxError } from "../../core/index.ts"
import { describe } from "../../internal/describe.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { readPythonDefinition } from "./python-definition.ts"
import { type PythonImport, importLine } from "./python-import.ts"
import { pythonPackage } from "./python-package.ts"

/** A Python function that code in the sandbox may import; nothing of it ever runs on the host. */
export interface PythonFunction {
  readonly name: string
  readonly source: string
  /** `def add(a: int, b: int = 1) -> int`, on one line. */
  readonly signature: string
  /** The docstring. */
  readonly description?: string | undefined
  readonly pythonPackages: readonly string[]
  readonly imports: readonly PythonImport[]
}

export interface PythonFunctionNeeds {
  /** What pip installs for it, such as `"pandas>=2"`. @default [] */
  readonly pythonPackages?: readonly string[] | undefined
  /** @default [] */
  readonly imports?: readonly PythonImport[] | undefined
}

export interface PythonFunctionOptions extends PythonFunctionNeeds {
  /** The text of one `def`, with its decorators and imports; it may be indented as a whole. */
  readonly source: string
}

/** Reads a Python function from its text, without running it. */
export function pythonFunction({ source, ...needs }: PythonFunctionOptions): PythonFunction {
  const clean = cleanSource(source)
  const { name, signature, docstring } = readPythonDefinition(clean)
  const pythonPackages = listOf(needs.pythonPackages, "pythonPackages").map(pythonPackage)
  const imports = listOf(needs.imports, "imports")
  for (const each of imports) importLine(each)
  return { name, source: clean, signature, description: docstring, pythonPackages, imports }
}

/** Reads a Python function from a file that has nothing but it and its imports, without running it. */
export async function pythonFunctionFromFile(
  path: string,
  { signal, ...needs }: PythonFunctionNeeds & { readonly signal?: AbortSignal | undefined } = {},
): Promise<PythonFunction> {
  try {
    const bytes = await readFile(path, { signal })
    return pythonFunction({ source: new TextDecoder("utf-8", { fatal: true }).decode(bytes), ...needs })
  } catch (error) {
    signal?.throwIfAborted()
    throw invalid(`The Python function in ${path} is not usable. ${errorMessage(error)}`, { cause: error })
  }
}

function cleanSource(source: string): string {
  if (typeof source !== "string") throw invalid(`The Python source is ${describe(source)}. Pass its text.`)
  // Half a character cannot be written to a file.
  if (/[\0\p{Cs}]/u.test(source)) throw invalid("The Python source has a character that Python cannot read.")
  const lines = source
    .replace(/^\uFEFF/, "")
    .replaceAll(/\r\n?/g, "\n")
    .replace(/^(?:[ \t\f]*\n)+/, "")
    .trimEnd()
    .split("\n")
  // A text within a string, or a comment, may stand further left than the function.
  const indent = /^[ \t]*/.exec(lines[0] ?? "")?.[0] ?? ""
  return lines.map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line)).join("\n")
}

function listOf<T>(value: readonly T[] | undefined, name: string): readonly T[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return [...(value as readonly T[])]
  throw invalid(`${name} is ${describe(value)}. Pass a list.`)
}

function invalid(message: string, options?: ErrorOptions): GloveboxError {
  return new GloveboxError("FUNCTION_INVALID", message, options)
}
