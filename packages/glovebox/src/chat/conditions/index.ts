export { conditionComponents } from "./condition-components.ts"
export { ExternalTermination } from "./external-termination.ts"
export { FunctionCallTermination } from "./function-call-termination.ts"
export { FunctionalTermination, type TerminationPredicate } from "./functional-termination.ts"
export { HandoffTermination } from "./handoff-termination.ts"
export { MaxMessageTermination, type MaxMessageTerminationOptions } from "./max-message-termination.ts"
export { SourceMatchTermination } from "./source-match-termination.ts"
export { StopMessageTermination } from "./stop-message-termination.ts"
export {
  AndTerminationCondition,
  type Delta,
  OrTerminationCondition,
  TerminationCondition,
} from "./termination-condition.ts"
export { TextMentionTermination, type TextMentionTerminationOptions } from "./text-mention-termination.ts"
export { TextMessageTermination } from "./text-message-termination.ts"
export { TimeoutTermination } from "./timeout-termination.ts"
export { TokenUsageTermination, type TokenUsageTerminationOptions } from "./token-usage-termination.ts"
