export { type AccessGuard, type AccessRequest, type AccessScope, authorizeAccess } from "./access-guard.ts"
export { type AgentId, agentId, formatAgentId, parseAgentId, sameAgentId } from "./agent-id.ts"
export { type AgentBinding, currentAccess, currentAgentId, currentInstantiation } from "./ambient-scope.ts"
export type { AgentMetadata } from "./agent-metadata.ts"
export { AgentProxy } from "./agent-proxy.ts"
export type {
  AgentFactory,
  AgentRuntime,
  CallOptions,
  ExpectReply,
  MailboxOptions,
  PublishOptions,
  RegisterOptions,
  SendOptions,
} from "./agent-runtime.ts"
export type { Agent, MaybeReply, Reply } from "./agent.ts"
export { BaseAgent } from "./base-agent.ts"
export {
  type Closure,
  ClosureAgent,
  type ClosureAgentHandle,
  type ClosureAgentOptions,
} from "./closure-agent.ts"
export { type Component, type ComponentModel, componentModelSchema } from "./components/component-model.ts"
export { type ComponentPart, componentPart } from "./components/component-part.ts"
export { ComponentRegistry } from "./components/component-registry.ts"
export {
  type ComponentDefinition,
  type ComponentLoader,
  type ComponentOptions,
  type ConfigSchema,
  defineComponent,
} from "./components/define-component.ts"
export { defaultTopicId } from "./default-topic-id.ts"
export { ERROR_CODES, type ErrorCode, GloveboxError } from "./glovebox-error.ts"
export type {
  InterventionContext,
  InterventionDecision,
  InterventionHandler,
  PublishIntervention,
  ResponseIntervention,
  SendIntervention,
} from "./intervention.ts"
export type { JsonObject, JsonValue } from "./json.ts"
export { JSON_CONTENT_TYPE } from "./json-serializer.ts"
export { type Logger, silentLogger } from "./logger.ts"
export {
  type AnyMessageType,
  type Message,
  type MessageType,
  defineMessage,
  isMessage,
  messageTypeOf,
} from "./message.ts"
export type { MessageContext } from "./message-context.ts"
export type { MessageSerializer, Payload } from "./message-serializer.ts"
export { MessageUnhandledError } from "./message-unhandled-error.ts"
export { type HandlerOptions, type MessageHandler, RoutedAgent } from "./routed-agent.ts"
export type { RuntimeEvent } from "./runtime-event.ts"
export { SerializationRegistry } from "./serialization.ts"
export { SingleThreadedAgentRuntime } from "./single-threaded-agent-runtime.ts"
export type { StopOptions } from "./single-threaded/lifecycle.ts"
export type { SingleThreadedAgentRuntimeOptions } from "./single-threaded/runtime-options.ts"
export {
  type Subscription,
  type TypePrefixSubscription,
  type TypeSubscription,
  type UnboundSubscription,
  defaultSubscription,
  matchesTopic,
  typePrefixSubscription,
  typeSubscription,
} from "./subscription.ts"
export { type TraceMetadata, contextFromTraceMetadata, traceMetadataOf } from "./telemetry/trace-context.ts"
export { type TopicId, formatTopicId, parseTopicId, topicId } from "./topic-id.ts"
export { UnknownPayload } from "./unknown-payload.ts"
