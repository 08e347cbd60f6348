import { createHash } from "node:crypto"
import { type ErrorCode, GloveboxError, type Logger } from "../../core/index.ts"

// Of these the text is about what the client sent, or for the client to act on.
const FOR_CLIENTS: ReadonlySet<ErrorCode> = new Set([
  "ACCESS_DENIED",
  "CODE_BLOCK_INVALID",
  "CODE_FILE_REFUSED",
  "EXECUTOR_STOPPED",
  "LANGUAGE_UNAVAILABLE",
  "LANGUAGE_UNKNOWN",
  "MESSAGE_INVALID",
  "MESSAGE_TOO_LARGE",
  "SANDBOX_LOST",
  "TRY_LATER",
])

/** An error whose text was written for clients, whatever its code. */
export class ErrorForClients extends GloveboxError {}

/** An error as a client may see it: of what is the operator's to know, only the code leaves this machine. */
export function toldError(error: unknown, logger: Logger, key: string): GloveboxError {
  if (error instanceof ErrorForClients) return error
  if (GloveboxError.is(error) && FOR_CLIENTS.has(error.code)) return error
  // The key is the client's secret, so it is not what is logged.
  const client = createHash("sha256").update(key).digest("hex").slice(0, 12)
  logger.error("The executor of a client failed", { error, client })
  const code = GloveboxError.is(error) ? error.code : "AGENT_FAILED"
  return new GloveboxError(
    code,
    `The machine that runs the code could not do this (${code}). Its operator finds the reason in its log.`,
  )
}
