import { GrpcWorkerAgentRuntimeHost } from "../grpc-worker-agent-runtime-host.ts"
import type { GrpcWorkerAgentRuntimeHostOptions } from "./host-options.ts"

/** A host on a free port, quick to notice what is gone. */
export async function startHost(
  options: Partial<GrpcWorkerAgentRuntimeHostOptions> = {},
): Promise<GrpcWorkerAgentRuntimeHost> {
  const host = new GrpcWorkerAgentRuntimeHost({
    address: "127.0.0.1:0",
    heartbeatMs: 100,
    graceMs: 300,
    ...options,
  })
  await host.start()
  // Nobody waits for requests that a test left pending.
  return Object.assign(host, { [Symbol.asyncDispose]: async () => await host.stop({ graceMs: 0 }) })
}

/** Waits for what a host's status will show. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2))
}
