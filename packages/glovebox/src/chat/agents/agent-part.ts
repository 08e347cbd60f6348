import { type ComponentPart, componentPart } from "../../core/index.ts"
import type { ChatAgent } from "./chat-agent.ts"

/** An agent inside another component's data. */
export const agentPart: ComponentPart<ChatAgent> = componentPart("agent", ["onMessagesStream", "onReset"])
