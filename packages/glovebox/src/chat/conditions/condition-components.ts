import type { ComponentDefinition } from "../../core/index.ts"
import { ExternalTermination } from "./external-termination.ts"
import { FunctionCallTermination } from "./function-call-termination.ts"
import { HandoffTermination } from "./handoff-termination.ts"
import { MaxMessageTermination } from "./max-message-termination.ts"
import { SourceMatchTermination } from "./source-match-termination.ts"
import { StopMessageTermination } from "./stop-message-termination.ts"
import { AndTerminationCondition, OrTerminationCondition } from "./termination-condition.ts"
import { TextMentionTermination } from "./text-mention-termination.ts"
import { TextMessageTermination } from "./text-message-termination.ts"
import { TimeoutTermination } from "./timeout-termination.ts"
import { TokenUsageTermination } from "./token-usage-termination.ts"

/** Every condition that can be made from data, for a `ComponentRegistry`. */
export const conditionComponents: readonly ComponentDefinition<never>[] = [
  AndTerminationCondition.definition,
  ExternalTermination.definition,
  FunctionCallTermination.definition,
  HandoffTermination.definition,
  MaxMessageTermination.definition,
  OrTerminationCondition.definition,
  SourceMatchTermination.definition,
  StopMessageTermination.definition,
  TextMentionTermination.definition,
  TextMessageTermination.definition,
  TimeoutTermination.definition,
  TokenUsageTermination.definition,
]
