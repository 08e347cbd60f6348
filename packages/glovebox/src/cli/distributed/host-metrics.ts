import type { HostMetrics, HostStatus } from "../../runtimes/grpc/index.ts"
import type { Metric } from "./prometheus-text.ts"

const COUNTERS: Readonly<Record<keyof HostMetrics, readonly [name: string, help: string]>> = {
  requests: ["requests", "Requests that workers sent."],
  responses: ["responses", "Answers that workers gave."],
  events: ["events", "Events that workers published."],
  deliveries: ["deliveries", "Events, counted for each worker that got them."],
  refused: ["refused", "Requests and events that were not let through."],
  timedOut: ["timed_out", "Requests whose deadline passed."],
  cancelled: ["cancelled", "Requests that were cancelled."],
  strayResponses: ["stray_responses", "Answers that nobody waited for."],
  connections: ["connections", "Channels that workers opened."],
  resumed: ["reconnects", "Channels that were taken up again within the grace time."],
  workersLost: ["workers_lost", "Workers that left without a word."],
  rejectedCalls: ["rejected_calls", "Calls that were not let in."],
}

/** What a host tells a scraper; counts only. */
export function hostMetrics(status: HostStatus, counts: Readonly<HostMetrics>): readonly Metric[] {
  const states: Record<HostStatus["workers"][number]["state"], number> = {
    open: 0,
    away: 0,
    draining: 0,
    unopened: 0,
  }
  let queued = 0
  let outstanding = 0
  for (const worker of status.workers) {
    states[worker.state] += 1
    queued += worker.queued
    outstanding += worker.outstanding
  }
  return [
    gauge("workers", "Workers, by state.", { label: "state", of: states }),
    gauge("agents", "Agents that have a place.", status.agents),
    gauge("subscriptions", "Subscriptions of all workers.", status.subscriptions),
    gauge("pending", "Requests whose callers wait.", status.pending),
    gauge("queued", "Messages that wait in the host.", queued),
    gauge("outstanding", "Messages that workers have and have not handled.", outstanding),
    ...Object.entries(COUNTERS).map(([key, [name, help]]): Metric => ({
      name: `glovebox_host_${name}_total`,
      help,
      type: "counter",
      value: counts[key as keyof HostMetrics],
    })),
  ]
}

function gauge(name: string, help: string, value: Metric["value"]): Metric {
  return { name: `glovebox_host_${name}`, help, type: "gauge", value }
}
