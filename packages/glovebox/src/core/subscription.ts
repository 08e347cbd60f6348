import { randomUUID } from "node:crypto"
import { describe } from "../internal/describe.ts"
import { checkAgentType } from "./agent-id.ts"
import { GloveboxError } from "./glovebox-error.ts"
import { DEFAULT_TOPIC_TYPE, type TopicId, checkTopicType } from "./topic-id.ts"

/** Agents of `agentType` receive what is published on topics of exactly `topicType`. */
export interface TypeSubscription {
  readonly kind: "type"
  readonly id: string
  readonly topicType: string
  readonly agentType: string
}

/** Agents of `agentType` receive what is published on topics whose type starts with `topicTypePrefix`. */
export interface TypePrefixSubscription {
  readonly kind: "type-prefix"
  readonly id: string
  readonly topicTypePrefix: string
  readonly agentType: string
}

/** Maps a topic to an agent: the subscription's agent type, with the topic's source as key. */
export type Subscription = TypeSubscription | TypePrefixSubscription

/** A subscription given at registration, which fills in the agent type being registered. */
export type UnboundSubscription =
  | (Omit<TypeSubscription, "agentType"> & { readonly agentType?: undefined })
  | (Omit<TypePrefixSubscription, "agentType"> & { readonly agentType?: undefined })

/** Subscribes to one topic type; leave out the agent type inside a registration. */
export function typeSubscription(topicType: string): UnboundSubscription
export function typeSubscription(topicType: string, agentType: string): TypeSubscription
export function typeSubscription(
  topicType: string,
  agentType?: string,
): TypeSubscription | UnboundSubscription {
  checkTopicType(topicType)
  if (agentType !== undefined) checkAgentType(agentType)
  return Object.freeze({ kind: "type", id: randomUUID(), topicType, agentType })
}

/** Subscribes to every topic type with this prefix; leave out the agent type inside a registration. */
export function typePrefixSubscription(topicTypePrefix: string): UnboundSubscription
export function typePrefixSubscription(topicTypePrefix: string, agentType: string): TypePrefixSubscription
export function typePrefixSubscription(
  topicTypePrefix: string,
  agentType?: string,
): TypePrefixSubscription | UnboundSubscription {
  checkTopicType(topicTypePrefix)
  if (agentType !== undefined) checkAgentType(agentType)
  return Object.freeze({ kind: "type-prefix", id: randomUUID(), topicTypePrefix, agentType })
}

/** Subscribes to the default topic, where `publish` without a topic goes. */
export function defaultSubscription(): UnboundSubscription
export function defaultSubscription(agentType: string): TypeSubscription
export function defaultSubscription(agentType?: string): TypeSubscription | UnboundSubscription {
  return agentType === undefined
    ? typeSubscription(DEFAULT_TOPIC_TYPE)
    : typeSubscription(DEFAULT_TOPIC_TYPE, agentType)
}

export function matchesTopic(subscription: Subscription, topic: TopicId): boolean {
  return subscription.kind === "type"
    ? topic.type === subscription.topicType
    : topic.type.startsWith(subscription.topicTypePrefix)
}

/** Checks a value that claims to be a subscription, and fills in the agent type of a registration. */
export function bindSubscription(
  subscription: Subscription | UnboundSubscription,
  agentType?: string,
): Subscription {
  if (typeof subscription !== "object" || subscription === null) throw notOne(subscription)
  const bound = { ...subscription, agentType: subscription.agentType ?? agentType }
  if (agentType !== undefined && bound.agentType !== agentType) {
    throw invalid(
      `A subscription for agent type ${describe(bound.agentType)} was given while "${agentType}" is registered. ` +
        "Leave the agent type out, or add it with addSubscription.",
    )
  }
  if (bound.agentType === undefined) {
    throw invalid("The subscription names no agent type. Pass one, or give it in register's subscriptions.")
  }
  checkAgentType(bound.agentType)
  if (typeof bound.id !== "string" || bound.id === "") {
    throw invalid(`Subscription id ${describe(bound.id)} is not valid. Use a non-empty string.`)
  }
  switch (bound.kind) {
    case "type":
      checkTopicType(bound.topicType)
      return Object.freeze({ ...bound, agentType: bound.agentType })
    case "type-prefix":
      checkTopicType(bound.topicTypePrefix)
      return Object.freeze({ ...bound, agentType: bound.agentType })
    default:
      throw notOne(subscription)
  }
}

function notOne(value: unknown): GloveboxError {
  return invalid(`${describe(value)} is not a subscription. Use typeSubscription(...).`)
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("SUBSCRIPTION_INVALID", message)
}
