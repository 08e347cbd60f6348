import { abortable } from "../../internal/abortable.ts"
import { hashCall } from "../../tools/hash-call.ts"
import type { CallToolOptions, ToolResult } from "../../tools/index.ts"
import { errorResult } from "../../tools/tool-result.ts"
import type { GovernedCall } from "./governed-call.ts"

export interface CallToAdmit {
  readonly name: string
  readonly args: unknown
  readonly options: CallToolOptions
}

export type Admitted = { readonly arguments: unknown } | { readonly refusal: ToolResult }

// Of a tool that does not tell.
const RISK = "medium"

/** Does before a call what tools made by `tool()` do themselves: for workbenches and tools of which nobody knows. */
export async function admitCall(call: GovernedCall, { name, args, options }: CallToAdmit): Promise<Admitted> {
  const signal = options.signal ?? new AbortController().signal
  const sha256 = hashCall(name, args)
  const request = {
    tool: name,
    risk: RISK,
    arguments: args,
    sha256,
    callId: options.callId,
    asks: false,
    signal,
  } as const
  let admitted = args
  if (call.mustAsk(request)) {
    const decision = await abortable(Promise.resolve(call.approve?.(request)), signal)
    if (decision?.approved !== true) {
      const why = decision?.reason === undefined ? "" : ` Reason: ${decision.reason}`
      return {
        refusal: errorResult(name, `The call of ${name} was not approved. Do not try it again.${why}`),
      }
    }
    admitted = decision.arguments ?? args
  }
  await call.begin({ arguments: admitted, risk: RISK })
  signal.throwIfAborted()
  return { arguments: admitted }
}
