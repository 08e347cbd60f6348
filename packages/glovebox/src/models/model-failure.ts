import { type ErrorCode, GloveboxError } from "../core/index.ts"
import { shorten } from "../internal/describe.ts"
import { redact } from "./redact.ts"

/** What went wrong on the way to a model, before it is put into words. */
export interface ModelFailure {
  /** The HTTP status; or one that fits what a stream reported. */
  readonly status?: number | undefined
  /** The system's name for a connection that failed, such as "ECONNREFUSED". */
  readonly connection?: string | undefined
  /** What the provider, or the system, said. */
  readonly message: string
  readonly retryAfterMs?: number | undefined
  /** The provider itself said that a retry is, or is not, worth it. */
  readonly shouldRetry?: boolean | undefined
  /** The answer to a 404 names no model, so that the address itself may be wrong. */
  readonly isForeign?: boolean | undefined
}

/** Whom a failure is about. */
export interface FailureContext {
  /** The provider's name for messages. */
  readonly provider: string
  readonly endpoint: string
  readonly model: string
  /** What must not appear; a function, because a token may come later. */
  readonly secrets: () => readonly string[]
}

const LOST = new Set([
  "ECONNRESET",
  "EPIPE",
  "EAI_AGAIN",
  "UND_ERR_SOCKET",
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
])

/** True when the same request may succeed later. */
export function isRetryable({ status, connection, shouldRetry }: ModelFailure): boolean {
  if (shouldRetry !== undefined) return shouldRetry
  if (status !== undefined) return status === 408 || status === 409 || status === 429 || status >= 500
  // A refused connection, or a name that does not exist, is told at once: nobody listens there.
  return connection !== undefined && LOST.has(connection)
}

/** The failure as the one typed error that callers see. */
export function failureError(
  failure: ModelFailure,
  context: FailureContext,
  attempts: number,
): GloveboxError {
  const { provider, endpoint, model } = context
  // Before it is cut: half of a key would not be recognized.
  const said = tidy(redact(failure.message, context.secrets()))
  const tried = attempts > 1 ? ` after ${attempts} attempts` : ""
  const [code, message] = words(failure, said, { provider, endpoint, model, tried })
  // The library's own error would carry headers and bodies, keys among them.
  return new GloveboxError(code, message, { cause: new Error(said) })
}

function words(
  failure: ModelFailure,
  said: string,
  { provider, endpoint, model, tried }: { provider: string; endpoint: string; model: string; tried: string },
): [ErrorCode, string] {
  const { status, connection } = failure
  if (connection === "UND_ERR_HEADERS_TIMEOUT" || connection === "UND_ERR_BODY_TIMEOUT") {
    return [
      "MODEL_TIMEOUT",
      `${provider} at ${endpoint} sent nothing for five minutes, which is as long as Node waits. Use createStream.`,
    ]
  }
  if (connection !== undefined) {
    const hint =
      connection === "ECONNREFUSED" ? "Nothing listens there. Start the server, or correct baseURL." : said
    return [
      "MODEL_UNAVAILABLE",
      `${provider} cannot be reached at ${endpoint} (${connection})${tried}: ${hint}`,
    ]
  }
  if (status === undefined) {
    return ["MODEL_RESPONSE_INVALID", `${provider} at ${endpoint} sent what is no answer of its API: ${said}`]
  }
  if (status < 400) {
    return [
      "MODEL_ENDPOINT_INVALID",
      `${provider} at ${endpoint} leads elsewhere (${status}), where the key is not taken. Correct baseURL.`,
    ]
  }
  if (status === 401 || status === 403) {
    return ["MODEL_KEY_REFUSED", `${provider} refuses the key (${status}): ${said}`]
  }
  if (status === 404 && failure.isForeign === true) {
    return [
      "MODEL_ENDPOINT_INVALID",
      `${provider} has nothing of its API at ${endpoint} (404): ${said}. Correct baseURL.`,
    ]
  }
  if (status === 404) return ["MODEL_UNKNOWN", `${provider} has no model "${model}" (404): ${said}`]
  if (status === 429) {
    const { retryAfterMs } = failure
    const wait = retryAfterMs === undefined ? "" : ` It asks to wait ${Math.ceil(retryAfterMs / 1000)} s.`
    return ["MODEL_RATE_LIMITED", `${provider} refuses more requests for now (429)${tried}: ${said}.${wait}`]
  }
  if (status === 408 || status >= 500) {
    return ["MODEL_UNAVAILABLE", `${provider} fails at ${endpoint} (${status})${tried}: ${said}`]
  }
  return ["MODEL_REQUEST_INVALID", `${provider} refuses the request (${status}): ${said}`]
}

const MAX_SAID = 500

function tidy(message: string): string {
  const line = message.replace(/[\s\p{Cc}]+/gu, " ").trim()
  // A page of HTML says nothing in its first line.
  if (/^(?:\d{3} )?<(?:!doctype|html)/i.test(line)) return `a page, ${shorten(line)}`
  const short = line.length > MAX_SAID ? `${line.slice(0, MAX_SAID)}…` : line
  return short.replace(/\.$/, "") || "it does not say why"
}
