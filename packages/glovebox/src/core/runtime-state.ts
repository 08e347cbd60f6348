import { z } from "zod"
import { errorMessage } from "../internal/error-message.ts"
import { formatIssues } from "../internal/format-issues.ts"
import { GloveboxError } from "./glovebox-error.ts"
import { type JsonObject, checkJson } from "./json.ts"
import type { Subscription } from "./subscription.ts"

const STATE_VERSION = 1

const jsonObject = z.custom<JsonObject>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
)

const subscriptionSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("type"), id: z.string(), topicType: z.string(), agentType: z.string() }),
  z.object({
    kind: z.literal("type-prefix"),
    id: z.string(),
    topicTypePrefix: z.string(),
    agentType: z.string(),
  }),
])

const runtimeStateSchema = z.strictObject({
  type: z.literal("RuntimeState"),
  version: z.literal(STATE_VERSION),
  /** The state of each agent that exists, by `type/key`. */
  agents: z.record(z.string(), jsonObject),
  /** Subscriptions added beside those of registrations, which come from the code. */
  subscriptions: z.array(subscriptionSchema),
})

/** A checkpoint of a runtime, taken while it is idle. */
export type RuntimeState = z.infer<typeof runtimeStateSchema>

export function createRuntimeState(
  agents: Record<string, JsonObject>,
  subscriptions: readonly Subscription[],
): RuntimeState {
  return { type: "RuntimeState", version: STATE_VERSION, agents, subscriptions: [...subscriptions] }
}

export function parseRuntimeState(state: unknown): RuntimeState {
  const result = runtimeStateSchema.safeParse(state)
  if (result.success) return result.data
  throw invalidState(
    `This is not a runtime state of version ${STATE_VERSION}: ${formatIssues(result.error.issues)}`,
  )
}

/** Checks what an agent gave as its state, so that it fails when saved rather than when it is needed. */
export function checkAgentState(agent: string, state: unknown): asserts state is JsonObject {
  try {
    checkJson(state)
  } catch (cause) {
    throw invalidState(`The state of agent ${agent} is not JSON: ${errorMessage(cause)}`, cause)
  }
  if (jsonObject.safeParse(state).success) return
  throw invalidState(`The state of agent ${agent} is not an object. Return one from saveState.`)
}

export function invalidState(message: string, cause?: unknown): GloveboxError {
  return new GloveboxError("STATE_INVALID", message, cause === undefined ? undefined : { cause })
}
