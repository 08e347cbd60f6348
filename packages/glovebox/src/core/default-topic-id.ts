import { DEFAULT_KEY } from "./agent-id.ts"
import { currentAgentId } from "./ambient-scope.ts"
import { DEFAULT_TOPIC_TYPE, type TopicId, topicId } from "./topic-id.ts"

/**
 * The topic of the current conversation: inside a handler its source is the handling agent's key,
 * so what an agent publishes stays with agents of the same key; outside it is "default".
 */
export function defaultTopicId(type: string = DEFAULT_TOPIC_TYPE): TopicId {
  return topicId(type, currentAgentId()?.key ?? DEFAULT_KEY)
}
