import { describe } from "../internal/describe.ts"
import { DEFAULT_KEY, isKey } from "./agent-id.ts"
import { GloveboxError } from "./glovebox-error.ts"

/** Where a message is published: what it is about, and the source that picks the agents' key. */
export interface TopicId {
  readonly type: string
  readonly source: string
}

export const DEFAULT_TOPIC_TYPE = "default"

const TOPIC_TYPE = /^[\p{L}\p{N}_\-.:=]+$/u
const MAX_LENGTH = 1024

/** Makes a validated topic id. */
export function topicId(type: string, source: string = DEFAULT_KEY): TopicId {
  const topic = { type, source }
  checkTopicId(topic)
  return Object.freeze(topic)
}

/** Reads the string form `type/source`; only the first slash divides. */
export function parseTopicId(text: string): TopicId {
  if (typeof text !== "string")
    throw invalid(`${describe(text)} is not the text of a topic id. Write it as "type/source".`)
  const slash = text.indexOf("/")
  if (slash < 0) throw invalid(`Topic id ${describe(text)} has no slash. Write it as "type/source".`)
  return topicId(text.slice(0, slash), text.slice(slash + 1))
}

export function formatTopicId(topic: TopicId): string {
  return `${topic.type}/${topic.source}`
}

export function checkTopicType(type: unknown): asserts type is string {
  if (typeof type === "string" && type.length <= MAX_LENGTH && TOPIC_TYPE.test(type)) return
  throw invalid(
    `Topic type ${describe(type)} is not valid. Use 1 to ${MAX_LENGTH} letters, digits, "_", "-", ".", ":" or "=".`,
  )
}

/** Checks a value that claims to be a topic id, at the border. */
export function checkTopicId(topic: unknown): asserts topic is TopicId {
  if (typeof topic !== "object" || topic === null || !("type" in topic) || !("source" in topic)) {
    throw invalid(`${describe(topic)} is not a topic id. Pass topicId("type", "source").`)
  }
  checkTopicType(topic.type)
  if (isKey(topic.source)) return
  throw invalid(
    `Topic source ${describe(topic.source)} is not valid. Use 1 to ${MAX_LENGTH} characters without control characters.`,
  )
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("TOPIC_ID_INVALID", message)
}
