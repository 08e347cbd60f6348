import { isError } from "../../internal/is-error.ts"
import { plainName } from "./plain-name.ts"

/** The `error.type` of whatever was thrown: a code where it has one, else the name of its class. */
export function errorType(error: unknown): string {
  if (!isError(error)) return "_OTHER"
  return plainName("code" in error && typeof error.code === "string" ? error.code : error.name)
}
