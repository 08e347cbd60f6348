import { errorMessage } from "../internal/error-message.ts"
import { isError } from "../internal/is-error.ts"
import type { ModelFailure } from "./model-failure.ts"
import { retryAfterMs } from "./retry-after.ts"

// What a stream reports after its status was 200, by the type of the error in it.
const STATUS_BY_TYPE: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  rate_limit_error: 429,
  overloaded_error: 503,
}

/** Reads an error of one of the providers' libraries, which are made alike, or of fetch itself. */
export function sdkFailure(error: unknown): ModelFailure {
  const message = errorMessage(error)
  if (!isError(error)) return { message }
  const status = "status" in error && typeof error.status === "number" ? error.status : undefined
  if (status !== undefined) return statusFailure(error, status)
  const connection = connectionCode(error)
  if (connection !== undefined) return { connection, message: deepestMessage(error) }
  // A provider's error within a stream is an object with a type; a text that is no JSON is a SyntaxError.
  const type = reportedType(error)
  if (type !== undefined) return { status: STATUS_BY_TYPE[type] ?? 500, message }
  return { message }
}

function statusFailure(error: Error, status: number): ModelFailure {
  const headers = "headers" in error && error.headers instanceof Headers ? error.headers : new Headers()
  const said = headers.get("x-should-retry")
  const code = "code" in error ? error.code : undefined
  const body = "error" in error ? error.error : undefined
  return {
    status,
    message: error.message.replace(/^\d{3} /, ""),
    retryAfterMs: retryAfterMs(headers),
    // A used-up quota does not come back by waiting.
    shouldRetry:
      code === "insufficient_quota" || said === "false" ? false : said === "true" ? true : undefined,
    isForeign: status === 404 && !namesAModel(error.message, body),
  }
}

function namesAModel(message: string, body: unknown): boolean {
  // Both libraries keep the parsed body of an error; a server that is none of the API's sends no such body.
  return (typeof body === "object" && body !== null) || /model|deployment/i.test(message)
}

function reportedType(error: Error): string | undefined {
  if (!("error" in error) || typeof error.error !== "object" || error.error === null) return undefined
  const body = error.error as { type?: unknown; error?: { type?: unknown } }
  const type = typeof body.error?.type === "string" ? body.error.type : body.type
  return typeof type === "string" ? type : "unknown"
}

/** The system's name for why a connection failed; undefined when it is none of that. */
function connectionCode(error: unknown): string | undefined {
  for (let current = error, depth = 0; isError(current) && depth < 5; current = current.cause, depth += 1) {
    if (
      "code" in current &&
      typeof current.code === "string" &&
      /^(?:E[A-Z]|UND_ERR|ERR_|CERT_|DEPTH_|SELF_)/.test(current.code)
    ) {
      return current.code
    }
    // Node tries each address of a name and tells all failures together.
    if (current instanceof AggregateError && current.errors.length > 0)
      return connectionCode(current.errors[0])
    if (
      current.cause === undefined &&
      /^(?:terminated|fetch failed|Connection error\.)$/.test(current.message)
    ) {
      return "ECONNRESET"
    }
  }
  return undefined
}

function deepestMessage(error: Error): string {
  let current = error
  for (let depth = 0; isError(current.cause) && depth < 5; depth += 1) current = current.cause
  return current.message === "" ? error.message : current.message
}
