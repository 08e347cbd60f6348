import { GloveboxError } from "../../core/index.ts"

/** What to tell a model of code that was not approved; undefined for any other error, and while an answer is waited for. */
export function denialOf(error: unknown): string | undefined {
  if (!GloveboxError.is(error) || !error.code.startsWith("APPROVAL_")) return undefined
  if (error.code === "APPROVAL_PENDING") return undefined
  // By its field: it may be of another copy of the package.
  const { reason } = error as { readonly reason?: unknown }
  return denialText(typeof reason === "string" ? reason : error.message)
}

export function denialText(reason: string | undefined): string {
  const why = reason === undefined ? "" : ` Reason: ${reason}`
  return `The code was not approved, so it did not run. Do not try it again.${why}`
}
