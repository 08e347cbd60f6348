import { describe } from "../internal/describe.ts"
import { GloveboxError } from "./glovebox-error.ts"

/** The address of one agent: its registered type, and the key that tells instances of the type apart. */
export interface AgentId {
  readonly type: string
  readonly key: string
}

/** The key used where none is given. */
export const DEFAULT_KEY = "default"

const AGENT_TYPE = /^[\p{L}\p{N}_\-.]+$/u
const MAX_LENGTH = 1024
// Control characters would garble logs and wire headers; an unpaired surrogate cannot be sent at all.
const FORBIDDEN_IN_KEY = /[\p{Cc}\p{Cs}]/u

/** Makes a validated agent id. */
export function agentId(type: string, key: string = DEFAULT_KEY): AgentId {
  checkAgentType(type)
  checkAgentKey(key)
  return Object.freeze({ type, key })
}

/** Reads the string form `type/key`; only the first slash divides, so a key may hold slashes. */
export function parseAgentId(text: string): AgentId {
  if (typeof text !== "string")
    throw invalid(`${describe(text)} is not the text of an agent id. Write it as "type/key".`)
  const slash = text.indexOf("/")
  if (slash < 0) throw invalid(`Agent id ${describe(text)} has no slash. Write it as "type/key".`)
  return agentId(text.slice(0, slash), text.slice(slash + 1))
}

export function formatAgentId(id: AgentId): string {
  return `${id.type}/${id.key}`
}

export function sameAgentId(a: AgentId | undefined, b: AgentId | undefined): boolean {
  return a !== undefined && b !== undefined && a.type === b.type && a.key === b.key
}

export function checkAgentType(type: unknown): asserts type is string {
  if (typeof type === "string" && type.length <= MAX_LENGTH && AGENT_TYPE.test(type)) return
  throw invalid(
    `Agent type ${describe(type)} is not valid. Use 1 to ${MAX_LENGTH} letters, digits, "_", "-" or ".".`,
  )
}

function checkAgentKey(key: unknown): asserts key is string {
  if (isKey(key)) return
  throw invalid(
    `Agent key ${describe(key)} is not valid. Use 1 to ${MAX_LENGTH} characters without control characters.`,
  )
}

/** Checks a value that claims to be an agent id, at the border. */
export function checkAgentId(id: unknown): asserts id is AgentId {
  if (typeof id !== "object" || id === null || !("type" in id) || !("key" in id)) {
    throw invalid(`${describe(id)} is not an agent id. Pass agentId("type", "key").`)
  }
  checkAgentType(id.type)
  checkAgentKey(id.key)
}

/** A topic's source becomes the key of the agents it reaches, so both obey one rule. */
export function isKey(key: unknown): key is string {
  return typeof key === "string" && key !== "" && key.length <= MAX_LENGTH && !FORBIDDEN_IN_KEY.test(key)
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("AGENT_ID_INVALID", message)
}
