import { z } from "zod"
import type { AgentId } from "../../../core/agent-id.ts"
import type { AgentMetadata } from "../../../core/agent-metadata.ts"
import type { JsonObject } from "../../../core/json.ts"

const agent = z.object({ type: z.string(), key: z.string() })

/** What AutoGen has no message for. */
export const controlCallSchema = z.discriminatedUnion("action", [
  z.object({ action: z.literal("metadata"), agent }),
  z.object({ action: z.literal("remove"), agent }),
  z.object({ action: z.literal("waited"), send: z.string() }),
])

export type ControlAction = z.output<typeof controlCallSchema>

/** What a worker does when it is asked over the control channel. */
export interface ControlActions {
  saveState(id: AgentId): Promise<JsonObject>
  loadState(id: AgentId, state: JsonObject): Promise<void>
  metadata(id: AgentId): Promise<AgentMetadata>
  remove(id: AgentId): Promise<void>
  /** True when somebody waits for a send of this worker; waits until that is decided. */
  waited(send: string): Promise<boolean>
}

export async function perform(actions: ControlActions, call: ControlAction): Promise<unknown> {
  if (call.action === "metadata") return await actions.metadata(call.agent)
  if (call.action === "remove") return await actions.remove(call.agent)
  return await actions.waited(call.send)
}
