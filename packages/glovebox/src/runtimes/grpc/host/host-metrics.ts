/** What a host did since it started. */
export interface HostMetrics {
  /** Requests that workers sent. */
  requests: number
  responses: number
  /** Events that workers published. */
  events: number
  /** Events times the workers that got them. */
  deliveries: number
  /** Requests and events that were not let through: full queues, sizes, scopes, unknown agents. */
  refused: number
  timedOut: number
  cancelled: number
  /** Answers to requests that nobody waits for any more, or that were never made. */
  strayResponses: number
  connections: number
  /** Connections that a worker took up again within the grace time. */
  resumed: number
  workersLost: number
  /** Calls that were not let in: tokens, client ids, limits. */
  rejectedCalls: number
}

export function newMetrics(): HostMetrics {
  return {
    requests: 0,
    responses: 0,
    events: 0,
    deliveries: 0,
    refused: 0,
    timedOut: 0,
    cancelled: 0,
    strayResponses: 0,
    connections: 0,
    resumed: 0,
    workersLost: 0,
    rejectedCalls: 0,
  }
}
