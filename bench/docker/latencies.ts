import type { EngineBed } from "./engine-bed.ts"
import { runInEngine } from "./engine-cold.ts"
import { runOnHost } from "../host-python.ts"
import { type Contender, interleave, timed } from "../interleave.ts"
import { IMPORTS, PRINT, checkPrinted } from "../programs.ts"
import { ReusedContainer } from "./reused-container.ts"
import { ROUNDS } from "./settings.ts"
import { SettlingExecutor } from "./settling-executor.ts"

type LatencyName =
  | "hostFloorMs"
  | "engineColdMs"
  | "engineColdResultMs"
  | "coldMs"
  | "coldResultMs"
  | "pooledFreshMs"
  | "pooledExecMs"
  | "sessionMs"
  | "execReusedMs"
  | "importsHostMs"
  | "importsPooledMs"
export type Latencies = Readonly<Record<LatencyName, number>>

const POOL_SIZE = 2

/** What one call costs that has the machine to itself, each way of running it. */
export async function measureLatencies(bed: EngineBed, python: string): Promise<Latencies> {
  await using reused = await ReusedContainer.start(bed)
  await using cold = await SettlingExecutor.start(bed, 0)
  await using pooled = await SettlingExecutor.start(bed, POOL_SIZE)
  await using pooledExec = await SettlingExecutor.start(bed, POOL_SIZE, { interpreter: "fresh" })
  await using session = bed.executor({ isolation: "session" })
  const contenders: Contender<LatencyName>[] = [
    { sample: async () => ({ hostFloorMs: await timed(async () => runOnHost(python, PRINT)) }) },
    pooledContender("pooledFreshMs", pooled, PRINT),
    {
      sample: async () => {
        const { resultMs, removedMs } = await runInEngine(bed)
        return { engineColdResultMs: resultMs, engineColdMs: removedMs }
      },
    },
    coldContender(cold),
    pooledContender("pooledExecMs", pooledExec, PRINT),
    {
      sample: async () => {
        const startedAt = performance.now()
        const { output, exitCode } = await session.executeCodeBlocks([{ language: "python", code: PRINT }])
        const sessionMs = performance.now() - startedAt
        checkPrinted(output, exitCode)
        return { sessionMs }
      },
    },
    { sample: async () => ({ execReusedMs: await timed(async () => reused.print()) }) },
    { sample: async () => ({ importsHostMs: await timed(async () => runOnHost(python, IMPORTS)) }) },
    pooledContender("importsPooledMs", pooled, IMPORTS),
  ]
  return await interleave(contenders, ROUNDS)
}

function pooledContender(
  name: LatencyName,
  executor: SettlingExecutor,
  code: string,
): Contender<LatencyName> {
  return {
    sample: async () => ({ [name]: await timed(async () => executor.print(code)) }),
    settle: async () => executor.settle(),
  }
}

// To the removal, as the engine's own is measured: the caller has its result before.
function coldContender(executor: SettlingExecutor): Contender<LatencyName> {
  return {
    sample: async () => {
      const startedAt = performance.now()
      await executor.print(PRINT)
      const coldResultMs = performance.now() - startedAt
      await executor.settle()
      return { coldResultMs, coldMs: performance.now() - startedAt }
    },
  }
}
