import { GloveboxError } from "../core/index.ts"
import { describe } from "../internal/describe.ts"

/** Checks a base URL, and gives it without a slash at its end. */
export function readEndpoint(text: string, option = "baseURL"): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw invalid(`${option} ${describe(withoutUser(text))} is no http or https address.`)
  }
  // Before the address appears in any message: a password is part of it.
  if (url.username !== "" || url.password !== "") {
    throw invalid(`${option} has a user name or password in it. Pass apiKey or headers instead.`)
  }
  if (url.search !== "" || url.hash !== "") {
    throw invalid(`${option} ${describe(url.origin + url.pathname)} must not have a query or a fragment.`)
  }
  return url.href.replace(/\/+$/, "")
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("MODEL_ENDPOINT_INVALID", message)
}

function withoutUser(text: string): string {
  // Up to the last @, because a password may have slashes in it; and a query may have a key.
  return text.replace(/^([a-z][\w+.-]*:\/\/)?[^]*@/i, "$1").replace(/[?#][^]*$/, "")
}
