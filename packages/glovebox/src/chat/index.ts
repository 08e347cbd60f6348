export * from "./agents/index.ts"
export * from "./conditions/index.ts"
export * from "./console/index.ts"
export * from "./messages/index.ts"
export {
  type AnyChatMessage,
  type Response,
  type RunOptions,
  type RunStream,
  SuspendedError,
  type StopKind,
  type Task,
  type TaskResult,
  type TaskRunner,
  answerText,
  response,
} from "./task/index.ts"
export * from "./teams/index.ts"
export * from "./tools/index.ts"
