export { AgentTool, type AgentToolOptions } from "./agent-tool.ts"
export type { RunnerState } from "./runner-source.ts"
export { TaskRunnerTool, type TaskRunnerToolOptions } from "./task-runner-tool.ts"
export { TeamTool, type TeamToolOptions } from "./team-tool.ts"
