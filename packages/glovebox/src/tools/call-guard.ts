import type { ApprovalRequest, ToolRisk } from "./approval.ts"

/** What a call is made with, right before it is made. */
export interface CallToMake {
  /** As the tool gets them: checked, and as they were approved. */
  readonly arguments: unknown
  readonly risk: ToolRisk
}

/** What stands before each call of a tool, whatever the tool itself wants. */
export interface CallGuard {
  /** Whether somebody must agree to a call whose tool asks for no approval. */
  mustAsk(request: ApprovalRequest): boolean
  /** Told of each call when nothing stands before it any more; if it rejects, the call is not made. */
  begin(call: CallToMake): Promise<void>
}

// By function, so that a copy of a tool counts, and one with another way to be called does not.
const guarded = new WeakSet<object>()

/** Notes that a tool's `stream` asks the guard before it does anything. */
export function asGuarded<Stream extends object>(stream: Stream): Stream {
  guarded.add(stream)
  return stream
}

export function isGuarded({ stream }: { readonly stream: object }): boolean {
  return guarded.has(stream)
}
