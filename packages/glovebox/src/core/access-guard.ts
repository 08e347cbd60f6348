import { abortable } from "../internal/abortable.ts"

/** What an agent wants to use. */
export interface AccessRequest {
  /** The name of a chat agent, else the agent's type at the runtime. */
  readonly agent: string
  /** The agent's type at the runtime; undefined for one that runs without. */
  readonly agentType?: string | undefined
  readonly kind: "tool" | "executor"
  /** Of a tool, its name; of an executor, its kind, such as docker. */
  readonly name: string
  /** Of an executor; undefined where nobody knows it. */
  readonly policy?: { readonly sha256: string } | undefined
  /** What an executor can reach that no policy tells of, such as devices. */
  readonly beyondPolicy?: readonly { readonly path: string; readonly to: string }[] | undefined
}

/** Decides which agents may use which tools and executors. */
export interface AccessGuard {
  /** For lists of what there is: it tells nobody. */
  allows(request: AccessRequest): boolean
  /** Asked before each use: rejects with ACCESS_DENIED, or lets it be. */
  authorize(request: AccessRequest, options?: { readonly signal?: AbortSignal | undefined }): Promise<void>
}

/** The guard of a runtime, and as whom the code in a handler stands before it. */
export interface AccessScope {
  readonly guard: AccessGuard
  readonly agent: string
  readonly agentType: string
  /** Of the handler that this one works for, where that has another guard. */
  readonly outer: AccessScope | undefined
}

/** An agent is what it is before its own guard, and what its caller is before all others. */
export function nestAccess(
  own: AccessScope | undefined,
  outer: AccessScope | undefined,
): AccessScope | undefined {
  if (!own) return outer
  return outer ? { ...own, outer: withoutGuard(outer, own.guard) } : own
}

/** Asks every guard that the code in this scope is bound by. */
export async function authorizeAccess(
  scope: AccessScope,
  wanted: Omit<AccessRequest, "agent" | "agentType">,
  signal?: AbortSignal,
): Promise<void> {
  for (let at: AccessScope | undefined = scope; at; at = at.outer) {
    const { guard, agent, agentType } = at
    await abortable(guard.authorize({ ...wanted, agent, agentType }, { signal }), signal)
  }
}

function withoutGuard(scope: AccessScope | undefined, guard: AccessGuard): AccessScope | undefined {
  if (!scope) return undefined
  const outer = withoutGuard(scope.outer, guard)
  return scope.guard === guard ? outer : { ...scope, outer }
}
