import { errorMessage } from "../../../internal/error-message.ts"
import { isError } from "../../../internal/is-error.ts"
import { ERROR_CODES, type ErrorCode, GloveboxError } from "../../../core/glovebox-error.ts"
import { MESSAGE_METADATA } from "./metadata-names.ts"
import type { RpcResponse } from "./wire-message.ts"

/** What of an error crosses the wire. */
export interface ErrorFields {
  readonly error: string
  readonly metadata: Readonly<Record<string, string>>
}

// An error's text must not make an answer that the other side's message limit refuses.
const MAX_TEXT = 65_536

/** Text and code of an error, for a response; never its stack or its cause. */
export function errorFields(error: unknown): ErrorFields {
  const text = textOf(error)
  if (!GloveboxError.is(error)) return { error: text, metadata: {} }
  return { error: text, metadata: { [MESSAGE_METADATA.errorCode]: error.code } }
}

/** The failure that a response tells of; undefined when it is an answer. */
export function errorOfResponse(response: RpcResponse): GloveboxError | undefined {
  if (response.error) return new GloveboxError(codeOf(response), response.error)
  if (response.payload || response.metadata?.[MESSAGE_METADATA.empty] === "1") return undefined
  // AutoGen sends this when a handler's exception has no text.
  return new GloveboxError(codeOf(response), "The agent failed without a text.")
}

function codeOf({ metadata = {} }: RpcResponse): ErrorCode {
  const name = Object.hasOwn(metadata, MESSAGE_METADATA.errorCode)
    ? metadata[MESSAGE_METADATA.errorCode]
    : undefined
  return ERROR_CODES.find((code) => code === name) ?? "AGENT_FAILED"
}

function textOf(error: unknown): string {
  let text: unknown
  try {
    // What was thrown as a text is the text.
    text = typeof error === "string" ? error : errorMessage(error)
  } catch {
    // A getter that throws is no reason to leave a caller without an answer.
  }
  if (typeof text === "string" && text.trim() !== "") return text.slice(0, MAX_TEXT)
  return isError(error) ? `${error.name || "Error"} without a text` : "The agent failed without a text."
}
