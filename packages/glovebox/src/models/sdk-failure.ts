import { z } from "zod"
import { errorMessage } from "../internal/error-message.ts"
import { isError } from "../internal/is-error.ts"
import type { ModelFailure } from "./model-failure.ts"
import { retryAfterMs } from "./retry-after.ts"

// What is reported after the status was 200, by the type or the code of the error.
const STATUS_BY_TYPE: ReadonlyMap<unknown, number> = new Map([
  ["invalid_request_error", 400],
  ["context_length_exceeded", 400],
  ["content_filter", 400],
  ["authentication_error", 401],
  ["invalid_api_key", 401],
  ["permission_error", 403],
  ["not_found_error", 404],
  ["model_not_found", 404],
  ["request_too_large", 413],
  ["rate_limit_error", 429],
  ["rate_limit_exceeded", 429],
  ["insufficient_quota", 429],
  ["overloaded_error", 503],
])

/** Reads an error of one of the providers' libraries, which are made alike, or of fetch itself. */
export function sdkFailure(error: unknown): ModelFailure {
  const message = errorMessage(error)
  if (!isError(error)) return { message }
  const status = "status" in error && typeof error.status === "number" ? error.status : undefined
  if (status !== undefined) return statusFailure(error, status)
  const connection = connectionCode(error)
  if (connection !== undefined) return { connection, message: deepestMessage(error) }
  // A provider's error within an answer is an object; a text that is no JSON is a SyntaxError.
  const report = reported(error)
  return report ? { ...report, message } : { message: deepestMessage(error) }
}

function statusFailure(error: Error, status: number): ModelFailure {
  const headers = "headers" in error && error.headers instanceof Headers ? error.headers : new Headers()
  const said = headers.get("x-should-retry")
  const code = "code" in error ? error.code : undefined
  const body = "error" in error ? error.error : undefined
  return {
    status,
    message: reportedMessage(body) ?? error.message.replace(/^\d{3} /, ""),
    retryAfterMs: retryAfterMs(headers),
    // A used-up quota does not come back by waiting.
    shouldRetry:
      code === "insufficient_quota" || said === "false" ? false : said === "true" ? true : undefined,
    // Servers answer a wrong path with JSON, too; only what speaks of a model is about one.
    isForeign: status === 404 && !/model|deployment|endpoints found/i.test(error.message),
  }
}

/** What the provider says, without the JSON around it. */
function reportedMessage(body: unknown): string | undefined {
  const { data } = z.object({ error: z.object({ message: z.string().min(1) }) }).safeParse(body)
  return data?.error.message
}

function reported(error: Error): Pick<ModelFailure, "status" | "shouldRetry"> | undefined {
  if (!("error" in error) || typeof error.error !== "object" || error.error === null) return undefined
  const body = error.error as { error?: unknown }
  const { type, code } = (typeof body.error === "object" && body.error ? body.error : body) as {
    type?: unknown
    code?: unknown
  }
  // OpenRouter, llama.cpp and others give the status that it would have been.
  const own = Number(code)
  const status =
    Number.isInteger(own) && own >= 400 && own < 600
      ? own
      : (STATUS_BY_TYPE.get(code) ?? STATUS_BY_TYPE.get(type) ?? 500)
  const isUsedUp = code === "insufficient_quota" || type === "insufficient_quota"
  return { status, ...(isUsedUp ? { shouldRetry: false } : {}) }
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
    // Fetch refuses ports of other protocols, with no code.
    if (current.message === "bad port") return "ERR_BAD_PORT"
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
