import { type AgentId, agentId } from "../../../core/agent-id.ts"
import { GloveboxError } from "../../../core/glovebox-error.ts"
import type { JsonObject } from "../../../core/json.ts"
import { errorMessage } from "../../../internal/error-message.ts"
import { type ControlContent, packAny } from "../wire/codec.ts"
import type { WireAgentId, WireAny } from "../wire/wire-message.ts"
import { type ControlActions, controlCallSchema, perform } from "./control-call.ts"

/** Does what a control message asks for; what goes wrong is an answer too. */
export async function answerControl(
  actions: ControlActions,
  content: ControlContent | undefined,
): Promise<WireAny> {
  if (content?.name === "SaveStateRequest") {
    try {
      const state = await actions.saveState(idOf(content.value.agentId))
      return packAny("SaveStateResponse", { state: JSON.stringify(state) })
    } catch (error) {
      return packAny("SaveStateResponse", { state: "", error: errorText(error) })
    }
  }
  if (content?.name === "LoadStateRequest") {
    try {
      await actions.loadState(idOf(content.value.agentId), JSON.parse(content.value.state) as JsonObject)
      return packAny("LoadStateResponse", {})
    } catch (error) {
      return packAny("LoadStateResponse", { error: errorText(error) })
    }
  }
  try {
    if (content?.name !== "ControlCall") throw new Error("This worker does not know that call.")
    const answer = await perform(actions, controlCallSchema.parse(JSON.parse(content.value.json)))
    return packAny("ControlAnswer", { json: JSON.stringify(answer ?? null) })
  } catch (error) {
    const code = GloveboxError.is(error) ? error.code : ""
    return packAny("ControlAnswer", { json: "", error: errorMessage(error) || "It failed.", code })
  }
}

function idOf(id: WireAgentId | null | undefined): AgentId {
  return agentId(id?.type ?? "", id?.key ?? "")
}

function errorText(error: unknown): string {
  const text = errorMessage(error) || "It failed."
  return GloveboxError.is(error) ? `[${error.code}] ${text}` : text
}
