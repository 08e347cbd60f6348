export type { ApproveCode, CodeApprovalDecision, CodeApprovalRequest } from "./approve-code.ts"
export { CodeExecutorAgent } from "./code-executor-agent.ts"
export type { CodeExecutorAgentOptions } from "./code-executor-agent-options.ts"
