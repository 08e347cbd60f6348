import type { WorkerStatus } from "../../runtimes/grpc/index.ts"
import type { Metric } from "./prometheus-text.ts"
import type { WorkerCounts } from "./worker-counts.ts"

/** Why nothing should be sent to this worker now. */
export function notReady({ state }: WorkerStatus, isDraining: boolean): string | undefined {
  if (isDraining || state === "draining") return "draining"
  return state === "connected" ? undefined : "not connected to the host"
}

/** What a worker tells a scraper; counts only. */
export function workerMetrics(status: WorkerStatus, counts: Readonly<WorkerCounts>): readonly Metric[] {
  return [
    metric(
      "gauge",
      "connected",
      "1 while there is a connection to the host.",
      status.state === "connected" ? 1 : 0,
    ),
    metric("gauge", "agents", "Agents that live here.", status.agents),
    metric("gauge", "outstanding", "Messages that wait or are being handled here.", status.outstanding),
    metric("gauge", "pending", "Sends of this worker that wait for a reply.", status.pending),
    metric("counter", "requests_total", "Requests that agents here began on.", counts.requests),
    metric("counter", "events_total", "Events that agents here began on.", counts.events),
    metric("counter", "failed_total", "Messages whose handler failed.", counts.failed),
    metric("counter", "refused_total", "Messages that no agent here took.", counts.refused),
    metric("counter", "reconnects_total", "Connections to the host that were made anew.", status.reconnects),
  ]
}

function metric(type: Metric["type"], name: string, help: string, value: number): Metric {
  return { name: `glovebox_worker_${name}`, help, type, value }
}
