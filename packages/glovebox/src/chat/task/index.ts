export { NO_USAGE, addUsage, hiddenUsage, sumUsage, usageSince } from "./sum-usage.ts"
export { type Response, type StopKind, type TaskResult, response } from "./task-result.ts"
export { type AnyChatMessage, type Task, readTask } from "./task.ts"
export { type RunOptions, type RunStream, type TaskRunner, drain } from "./task-runner.ts"
