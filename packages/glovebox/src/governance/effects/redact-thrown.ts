import { isError } from "../../internal/is-error.ts"
import type { Redactor } from "../redaction/redactor.ts"

/** What is thrown on, without secrets; itself when there are none in it. */
export function redactThrown(error: unknown, redactor: Redactor | undefined): unknown {
  if (!redactor) return error
  if (typeof error === "string") return redactor.text(error)
  return isError(error) ? redactor.error(error) : error
}
