import { fileURLToPath } from "node:url"
import { LineProgram } from "./line-program.ts"

/** The Python that has AutoGen; `scripts/test-interop` makes it. */
export const PYTHON: string = fileURLToPath(new URL("../.cache/interop-venv/bin/python", import.meta.url))

export function startAutogenProgram(script: string, ...args: readonly string[]): LineProgram {
  return new LineProgram(PYTHON, [fileURLToPath(new URL(`python/${script}`, import.meta.url)), ...args])
}
