/** Names of the gRPC metadata of calls; all lower case, as HTTP/2 wants. */
export const CALL_METADATA = {
  clientId: "client-id",
  authorization: "authorization",
  link: "glovebox-link",
  received: "glovebox-received",
  session: "glovebox-session",
  resumed: "glovebox-resumed",
  maxMessage: "glovebox-max-message",
  credits: "glovebox-credits",
  graceMs: "glovebox-grace-ms",
  heartbeatMs: "glovebox-heartbeat-ms",
} as const

/** Between chains of which it is not known which one a request is of. */
export const CHAIN_ALTERNATIVE = "|"

/** The only version of the link there is. */
export const LINK_VERSION = "1"

/** Names in the `metadata` of requests and responses, and of the trace in an event's attributes. */
export const MESSAGE_METADATA = {
  timeoutMs: "glovebox-timeout-ms",
  chain: "glovebox-chain",
  errorCode: "glovebox-error-code",
  empty: "glovebox-empty",
  traceparent: "traceparent",
  tracestate: "tracestate",
} as const
