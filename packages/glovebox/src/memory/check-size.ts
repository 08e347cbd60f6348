import { GloveboxError } from "../core/index.ts"
import { describe } from "../internal/describe.ts"

/** A whole number from 1, or an error that names the option. */
export function checkSize(name: string, size: number): number {
  if (Number.isInteger(size) && size >= 1) return size
  throw new GloveboxError("OPTION_INVALID", `${name} is ${describe(size)}. Use a whole number from 1.`)
}
