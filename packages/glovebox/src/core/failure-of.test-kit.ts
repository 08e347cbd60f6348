import { GloveboxError } from "./glovebox-error.ts"

/** What a call is refused with, as `CODE: message`; any other outcome fails the test. */
export function failureOf(call: () => unknown): string {
  let value: unknown
  try {
    value = call()
  } catch (error) {
    if (error instanceof GloveboxError) return `${error.code}: ${error.message}`
    throw error
  }
  throw new Error(`expected a GloveboxError, but got ${String(value)}`)
}
