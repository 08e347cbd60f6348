import { type Response, type StopKind, type TaskResult, waitsFor } from "../task/index.ts"

/** Why an agent's turn ended, to branch on and in words. */
export function describeStop(
  name: string,
  { chatMessage, stopKind, stopReason }: Response,
): { readonly stopKind: StopKind; readonly stopReason: string } {
  if (stopKind !== undefined) return { stopKind, stopReason: stopReason ?? `${name} stopped: ${stopKind}.` }
  return chatMessage.type === "HandoffMessage"
    ? { stopKind: "handoff", stopReason: stopReason ?? `${name} handed off to ${chatMessage.target}.` }
    : { stopKind: "answer", stopReason: stopReason ?? `${name} answered.` }
}

/** The same for a turn that waits for approvals. */
export function describeSuspension(
  name: string,
  pending: readonly string[],
): Pick<TaskResult, "stopKind" | "stopReason" | "pending"> {
  return { stopKind: "suspended", stopReason: waitsFor(name, pending), pending }
}
