import { GloveboxError } from "../core/index.ts"

/** What a call is told when its client was closed. */
export function clientClosed(): GloveboxError {
  return new GloveboxError("MODEL_CLIENT_CLOSED", "The model client is closed. Make a new one.")
}
