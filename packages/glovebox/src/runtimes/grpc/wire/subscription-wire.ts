import { GloveboxError } from "../../../core/glovebox-error.ts"
import { type Subscription, bindSubscription } from "../../../core/subscription.ts"
import type { WireSubscription } from "./wire-message.ts"

export function toWireSubscription(subscription: Subscription): WireSubscription {
  const { id, agentType } = subscription
  return subscription.kind === "type"
    ? { id, typeSubscription: { topic_type: subscription.topicType, agent_type: agentType } }
    : {
        id,
        typePrefixSubscription: { topic_type_prefix: subscription.topicTypePrefix, agent_type: agentType },
      }
}

/** Throws SUBSCRIPTION_INVALID, or what the ids are refused with. */
export function fromWireSubscription(source: WireSubscription): Subscription {
  const { id, typeSubscription: exact, typePrefixSubscription: prefix } = source
  if (exact) {
    return bindSubscription({
      kind: "type",
      id,
      topicType: exact.topic_type,
      agentType: exact.agent_type,
    })
  }
  if (prefix) {
    return bindSubscription({
      kind: "type-prefix",
      id,
      topicTypePrefix: prefix.topic_type_prefix,
      agentType: prefix.agent_type,
    })
  }
  throw new GloveboxError("SUBSCRIPTION_INVALID", "The subscription names neither a topic type nor a prefix.")
}
