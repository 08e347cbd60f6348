import { status } from "@grpc/grpc-js"
import { type ErrorCode, GloveboxError } from "../../../core/glovebox-error.ts"
import { errorMessage } from "../../../internal/error-message.ts"

/** What the host, or the way to it, said to a call. */
export function hostFailure(error: unknown, what: string): GloveboxError {
  if (GloveboxError.is(error)) return error
  const { code, details } = (error ?? {}) as { code?: unknown; details?: unknown }
  const text = plainly(typeof details === "string" && details !== "" ? details : errorMessage(error))
  return new GloveboxError(codeOf(code, text), `${what}: ${text}`, { cause: error })
}

/** gRPC wraps what the system said in words of its own, and OpenSSL in numbers. */
function plainly(text: string): string {
  const said = /Last error: (?:Error: )?([^]*?)\.? Resolution note:/.exec(text)?.[1] ?? text
  const alert = /:SSL routines:[^:]*:([^:]+):/.exec(said)?.[1]
  return alert === undefined ? said.replace(/\s*\(\d{4}-\S+Z\)$/, "") : `TLS: ${alert}`
}

/** True when another try may go better. */
export function isPassing(error: unknown): boolean {
  return GloveboxError.is(error, "HOST_UNAVAILABLE")
}

function codeOf(code: unknown, text: string): ErrorCode {
  switch (code) {
    case status.UNAVAILABLE:
    case status.DEADLINE_EXCEEDED:
    case status.CANCELLED:
    case status.ABORTED:
      return "HOST_UNAVAILABLE"
    case status.ALREADY_EXISTS:
      return "AGENT_ALREADY_REGISTERED"
    case status.RESOURCE_EXHAUSTED:
      return "QUEUE_FULL"
    default:
      // AutoGen's hosts tell these by their text alone.
      if (/already registered/.test(text)) return "AGENT_ALREADY_REGISTERED"
      if (/Subscription already exists/.test(text)) return "SUBSCRIPTION_ALREADY_EXISTS"
      return typeof code === "number" ? "HOST_REFUSED" : "HOST_UNAVAILABLE"
  }
}
