import { z } from "zod"

const PATTERN = /^(?:[\p{L}\p{N}_\-.:=]+\*?|\*)$/u
const MAX_LENGTH = 1024

/** The name of an agent or topic type, or its beginning and one `*` at the end. */
export const scopePatternSchema = z
  .string()
  .max(MAX_LENGTH, `is longer than ${MAX_LENGTH} characters`)
  .regex(PATTERN, 'is not a pattern: write a name, or its beginning with one "*" at the end')

/** Whether one of the patterns allows the name. */
export function coversName(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => {
    const start = startOf(pattern)
    return start === undefined ? pattern === name : name.startsWith(start)
  })
}

/** Whether one of the patterns allows every name with this prefix. */
export function coversPrefix(patterns: readonly string[], prefix: string): boolean {
  return patterns.some((pattern) => {
    const start = startOf(pattern)
    return start !== undefined && prefix.startsWith(start)
  })
}

function startOf(pattern: string): string | undefined {
  return pattern.endsWith("*") ? pattern.slice(0, -1) : undefined
}
