export { type Handoff, type HandoffOptions, handoff } from "../handoff.ts"
export { AssistantAgent } from "./assistant-agent.ts"
export type { AssistantAgentOptions, SummarizeCall, ToolLoop } from "./assistant-options.ts"
