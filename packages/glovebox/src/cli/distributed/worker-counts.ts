import type { GrpcWorkerAgentRuntime } from "../../runtimes/grpc/index.ts"

/** What the agents of a worker did since it started. */
export interface WorkerCounts {
  requests: number
  events: number
  failed: number
  refused: number
}

/** Counts for as long as the runtime lives; nothing of a message is kept. */
export function countWork(runtime: GrpcWorkerAgentRuntime): Readonly<WorkerCounts> {
  const counts: WorkerCounts = { requests: 0, events: 0, failed: 0, refused: 0 }
  runtime.on("message-delivered", ({ topicId }) => {
    counts[topicId === undefined ? "requests" : "events"] += 1
  })
  runtime.on("handler-failed", () => {
    counts.failed += 1
  })
  for (const type of ["message-undeliverable", "message-unhandled"] as const) {
    runtime.on(type, () => {
      counts.refused += 1
    })
  }
  return counts
}
