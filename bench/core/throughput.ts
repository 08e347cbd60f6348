import { measureRates } from "../measure-rates.ts"
import { baselineBatches } from "./baseline-batches.ts"
import { runtimeBatches } from "./runtime-batches.ts"
import { startEchoRuntime } from "./start-echo-runtime.ts"
import type { Workload } from "./workload.ts"

/** Operations a second. */
export interface Throughput {
  readonly ours: number
  /** Bare mailboxes, in turns with ours. */
  readonly baseline: number
  /** Bare mailboxes before any runtime has delivered a message. */
  readonly baselineAlone: number
}

export async function measureThroughput(): Promise<Record<Workload, Throughput>> {
  const bare = baselineBatches()
  // First: the runtime uses AsyncLocalStorage, which from then on slows down every promise of the process.
  const alone = await measureRates(bare, { rounds: 3, turnMs: 200 })
  await using runtime = await startEchoRuntime()
  const ours = await runtimeBatches(runtime)
  const measure = async (workload: Workload): Promise<Throughput> => ({
    ...(await measureRates({ ours: ours[workload], baseline: bare[workload] }, { turnMs: 200 })),
    baselineAlone: alone[workload],
  })
  return {
    serial: await measure("serial"),
    concurrent: await measure("concurrent"),
    publish: await measure("publish"),
  }
}
