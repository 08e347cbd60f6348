export * from "./chat/index.ts"
export {
  type AgentId,
  ClosureAgent,
  type ErrorCode,
  GloveboxError,
  type Message,
  type MessageContext,
  RoutedAgent,
  SingleThreadedAgentRuntime,
  type TopicId,
  agentId,
  defaultSubscription,
  defaultTopicId,
  defineMessage,
  topicId,
  typePrefixSubscription,
  typeSubscription,
} from "./core/index.ts"
export {
  type ChosenExecutor,
  type CodeBlock,
  type CodeExecutor,
  type CodeResult,
  type CreateExecutorOptions,
  createExecutor,
} from "./executors/index.ts"
export { type PolicyInput, SandboxPolicy, loadPolicy } from "./policy/index.ts"
export { type Tool, tool } from "./tools/index.ts"
export { codeExecutionTool } from "./tools/code-execution/index.ts"
