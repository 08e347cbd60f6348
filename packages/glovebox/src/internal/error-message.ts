import { describe } from "./describe.ts"
import { isError } from "./is-error.ts"

/** What a thrown value says, whatever was thrown. */
export function errorMessage(error: unknown): string {
  return isError(error) ? error.message : describe(error)
}
