import { describe } from "./describe.ts"

/** What a thrown value says, whatever was thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : describe(error)
}
