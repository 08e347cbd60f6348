import type { FunctionCall } from "../../../models/index.ts"
import type { AssistantSettings } from "./read-assistant-options.ts"
import type { HeldTurn } from "./suspended-turn.ts"

type Owners = Pick<AssistantSettings, "toolbox" | "workbenches">

/** The turn that waits will not go on. */
export function forgetHeld(settings: Owners, { turn }: HeldTurn): void {
  if (turn) forgetCalls(settings, turn.round.calls)
}

/** Tells the tools that calls which may have waited for approvals do not come again. */
export function forgetCalls({ toolbox, workbenches }: Owners, calls: readonly FunctionCall[]): void {
  for (const { name, id } of calls) {
    for (const owner of [toolbox, ...workbenches]) owner.forgetCall?.(name, id)
  }
}
