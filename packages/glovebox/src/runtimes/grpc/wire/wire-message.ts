/**
 * The shapes of `schema.ts`, with the wire's own names. What was read has null, "" or 0 where a field was not sent;
 * these defaults are inherited, so a spread copy lacks them.
 */
export interface WireAgentId {
  readonly type: string
  readonly key: string
}

export interface WirePayload {
  readonly data_type: string
  readonly data_content_type: string
  readonly data: Uint8Array
}

export interface RpcRequest {
  readonly request_id: string
  readonly source?: WireAgentId | null | undefined
  readonly target?: WireAgentId | null | undefined
  readonly method?: string | undefined
  readonly payload?: WirePayload | null | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
}

export interface RpcResponse {
  readonly request_id: string
  readonly payload?: WirePayload | null | undefined
  readonly error?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
}

export interface WireAny {
  readonly type_url: string
  readonly value: Uint8Array
}

export interface CloudEventAttribute {
  readonly ce_boolean?: boolean | undefined
  readonly ce_integer?: number | undefined
  readonly ce_string?: string | undefined
  readonly ce_bytes?: Uint8Array | undefined
  readonly ce_uri?: string | undefined
  readonly ce_uri_ref?: string | undefined
  /** A Timestamp's bytes, as they came. */
  readonly ce_timestamp?: Uint8Array | undefined
}

export interface CloudEvent {
  readonly id: string
  readonly source: string
  readonly spec_version?: string | undefined
  readonly type: string
  readonly attributes?: Readonly<Record<string, CloudEventAttribute>> | undefined
  readonly binary_data?: Uint8Array | null | undefined
  readonly text_data?: string | null | undefined
  readonly proto_data?: WireAny | null | undefined
}

export interface Beat {
  readonly received?: number | undefined
  readonly ping?: number | undefined
  readonly pong?: number | undefined
}

export interface Refusal {
  readonly seq: number
  readonly code: string
  readonly text: string
}

export interface Cancellation {
  readonly id: string
  readonly reason: string
}

export interface Notice {
  readonly handled?: number | undefined
  readonly refusals?: readonly Refusal[] | undefined
  readonly cancellations?: readonly Cancellation[] | undefined
  readonly removed?: readonly WireAgentId[] | undefined
  readonly alive?: readonly WireAgentId[] | undefined
  readonly unregistered?: readonly string[] | undefined
  readonly leave?: string | undefined
  readonly quiet_question?: { readonly id: number } | null | undefined
  readonly quiet_answer?: { readonly id: number; readonly activity: number } | null | undefined
}

/** One frame of `OpenChannel`, in either direction. */
export interface WireMessage {
  readonly request?: RpcRequest | null | undefined
  readonly response?: RpcResponse | null | undefined
  readonly cloudEvent?: CloudEvent | null | undefined
  readonly notice?: Notice | null | undefined
  readonly beat?: Beat | null | undefined
  readonly seq?: number | undefined
  readonly targets?: readonly string[] | undefined
  readonly batch?: readonly WireMessage[] | undefined
  readonly part?: Uint8Array | undefined
  readonly more?: boolean | undefined
}

export interface WireSubscription {
  readonly id: string
  readonly typeSubscription?: { readonly topic_type: string; readonly agent_type: string } | null | undefined
  readonly typePrefixSubscription?:
    | { readonly topic_type_prefix: string; readonly agent_type: string }
    | null
    | undefined
}

export interface ControlMessage {
  readonly rpc_id: string
  readonly destination: string
  readonly respond_to?: string | undefined
  readonly rpcMessage?: WireAny | null | undefined
}

export interface RegisterAgentTypeRequest {
  readonly type: string
  readonly keys?: readonly string[] | undefined
}

export interface AddSubscriptionRequest {
  readonly subscription?: WireSubscription | null | undefined
}

export interface RemoveSubscriptionRequest {
  readonly id: string
}

export interface GetSubscriptionsResponse {
  readonly subscriptions: readonly WireSubscription[]
}

/** What has no fields. */
export type EmptyMessage = Readonly<Record<string, never>>

/** What a `ControlMessage` may hold, by the name in its type URL. */
export interface ControlContents {
  readonly SaveStateRequest: { readonly agentId?: WireAgentId | null | undefined }
  readonly SaveStateResponse: { readonly state: string; readonly error?: string | null | undefined }
  readonly LoadStateRequest: { readonly agentId?: WireAgentId | null | undefined; readonly state: string }
  readonly LoadStateResponse: { readonly error?: string | null | undefined }
  readonly ControlCall: { readonly json: string }
  readonly ControlAnswer: {
    readonly json: string
    readonly error?: string | null | undefined
    readonly code?: string | undefined
  }
}
