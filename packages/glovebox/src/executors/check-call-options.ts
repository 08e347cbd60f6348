import { GloveboxError } from "../core/index.ts"
import { describe } from "../internal/describe.ts"

/** Refuses what is no set of options for a call, before anything is done. */
export function checkCallOptions(options: unknown): void {
  if (typeof options !== "object" || options === null) {
    throw invalid(`The options are ${describe(options)}. Pass an object such as { signal }.`)
  }
  const { signal, onOutput } = options as { readonly signal?: unknown; readonly onOutput?: unknown }
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw invalid(`The signal is ${describe(signal)}. Pass that of an AbortController.`)
  }
  if (onOutput !== undefined && typeof onOutput !== "function") {
    throw invalid(`onOutput is ${describe(onOutput)}. Pass a function.`)
  }
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("OPTION_INVALID", message)
}
