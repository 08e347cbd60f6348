import { GloveboxError } from "../../core/index.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { engineRemedy } from "./engine-remedy.ts"

// An engine may quote the whole of what it was sent.
const LONGEST_MESSAGE = 1000
const UNREACHABLE =
  /ECONNREFUSED|ENOENT|EACCES|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN|socket hang up|ssh ended|spawn ssh|certificate|TLS|SSL/

/** The status of the engine's answer, if it answered. */
export function statusOf(error: unknown): number | undefined {
  const status = (error as { statusCode?: unknown } | null)?.statusCode
  return typeof status === "number" ? status : undefined
}

/** What the engine said, without the client's wrapping. */
export function engineSaid(error: unknown): string {
  const text = errorMessage(error)
    .replace(/^\(HTTP code \d+\) [^-]*- /, "")
    .trim()
  return text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)} ...` : text
}

/** One typed error for whatever a request to the engine met. */
export function engineFailure(error: unknown, doing: string, url: string): GloveboxError {
  if (GloveboxError.is(error)) return error
  if (statusOf(error) === undefined && UNREACHABLE.test(`${errorMessage(error)} ${codeOf(error)}`)) {
    return new GloveboxError(
      "ENGINE_UNAVAILABLE",
      `No Docker engine answers at ${url} (${errorMessage(error) || codeOf(error)}). What to do: ${engineRemedy(error)}. glovebox doctor says more.`,
      { cause: error },
    )
  }
  return new GloveboxError("ENGINE_FAILED", `The engine at ${url} could not ${doing}: ${engineSaid(error)}`, {
    cause: error,
  })
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === "string" ? code : ""
}
