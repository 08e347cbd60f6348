import { type AccessRequest, authorizeAccess } from "../../core/access-guard.ts"
import { currentAccess } from "../../core/ambient-scope.ts"
import { abortable } from "../../internal/abortable.ts"
import type { Controls } from "./controls.ts"

/** Asks the agent's own rules and those of the runtime that it works in, before anybody is asked for leave. */
export async function authorize(
  { agent, access }: Pick<Controls, "agent" | "access">,
  wanted: Omit<AccessRequest, "agent" | "agentType">,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (access) await abortable(access.authorize({ ...wanted, agent }, { signal }), signal)
  const scope = currentAccess()
  if (scope) await authorizeAccess(scope, wanted, signal)
}
