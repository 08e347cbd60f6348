import { afterAll, describe, it } from "vitest"
import { runtimeConformance } from "../../testing/runtime-conformance.ts"
import type { RuntimePlace, TestedRuntimeOptions } from "../../testing/runtime-subject.ts"
import { GrpcWorkerAgentRuntime, GrpcWorkerAgentRuntimeHost } from "./index.ts"
import { SharedWorkers } from "./shared-workers.test-kit.ts"

async function withWorkers(
  count: number,
  options: TestedRuntimeOptions,
  place: (workers: readonly GrpcWorkerAgentRuntime[]) => Omit<RuntimePlace, typeof Symbol.asyncDispose>,
): Promise<RuntimePlace> {
  const host = new GrpcWorkerAgentRuntimeHost({ address: "127.0.0.1:0" })
  await host.start()
  const workers = Array.from(
    { length: count },
    () => new GrpcWorkerAgentRuntime({ hostAddress: host.address, ...options }),
  )
  return {
    ...place(workers),
    [Symbol.asyncDispose]: async () => {
      // A test of what a close says has heard it.
      await Promise.all(workers.map(async (worker) => worker.close().catch(() => {})))
      await host.stop({ graceMs: 0 })
    },
  }
}

function first<T>(items: readonly T[]): T {
  const [item] = items
  if (item === undefined) throw new Error("there is none")
  return item
}

runtimeConformance(
  { describe, it, after: afterAll },
  {
    name: "a host and a worker",
    create: (options) => withWorkers(1, options, (workers) => ({ home: first(workers) })),
  },
)

runtimeConformance(
  { describe, it, after: afterAll },
  {
    name: "a host and two workers, one with the agents",
    create: (options) =>
      withWorkers(2, options, (workers) => ({ home: first(workers), away: workers.at(-1) })),
  },
)

runtimeConformance(
  { describe, it, after: afterAll },
  {
    name: "a host and three workers that share all types",
    create: (options) => withWorkers(3, options, (workers) => ({ home: new SharedWorkers(workers) })),
  },
)
