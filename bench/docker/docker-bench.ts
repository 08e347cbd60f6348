import { cpus } from "node:os"
import type { JsonObject } from "glovebox/core"
import { BenchError } from "../bench-error.ts"
import {
  bombReport,
  goalsReport,
  gvisorReport,
  idleReport,
  killReport,
  latencyReport,
  throughputReport,
} from "./docker-report.ts"
import { EngineBed } from "./engine-bed.ts"
import { measureGvisor } from "./gvisor.ts"
import { findHostPython } from "../host-python.ts"
import { measureIdleContainerBytes } from "./idle-memory.ts"
import { cleanUpWhenInterrupted } from "./interrupt.ts"
import { measureKill } from "./kill.ts"
import { measureLatencies } from "./latencies.ts"
import { measureOutputBomb } from "./output-bomb.ts"
import { IMAGE } from "./settings.ts"
import { measureThroughput } from "./throughput.ts"

/** What code in a container costs: a call, a load, a kill, an idle container, a flood of output. */
export async function dockerBench(print: (line: string) => void): Promise<JsonObject> {
  await using bed = await EngineBed.connect()
  using _interrupts = cleanUpWhenInterrupted(bed)
  try {
    return await measureAll(bed, print)
  } catch (error) {
    if (!bed.isClosing) throw error
    await bed.close()
    throw new BenchError("The bench was interrupted; nothing of it is left on the engine.", { cause: error })
  }
}

async function measureAll(bed: EngineBed, print: (line: string) => void): Promise<JsonObject> {
  const python = await findHostPython()
  print(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? "unknown CPU"}.`)
  print(`Engine ${bed.info.version}, ${bed.runtime}, ${IMAGE}; the host's Python is ${python}.\n`)

  const latencies = await measureLatencies(bed, python)
  print(latencyReport(latencies))
  print(goalsReport(latencies))
  const gvisor = await measureGvisor(bed, python)
  print(gvisorReport(gvisor))
  const { killMs, goneMs } = await measureKill(bed)
  print(killReport({ killMs, goneMs }))
  const idleContainerBytes = await measureIdleContainerBytes(bed)
  print(idleReport(idleContainerBytes))
  const bomb = await measureOutputBomb(bed)
  print(bombReport(bomb))
  const throughput = await measureThroughput(bed)
  print(throughputReport(throughput))

  return {
    ...rounded({ ...latencies, killMs, killGoneMs: goneMs }),
    runsPerSecond: rounded(Object.fromEntries(throughput.runsPerSecond)),
    ...rounded({
      createStartRemovePerSecond: throughput.createStartRemovePerSecond,
      runsToCreateStartRemove: throughput.ratio,
    }),
    bestConcurrency: throughput.bestConcurrency,
    idleContainerBytes,
    outputBombBeforeBytes: bomb.beforeBytes,
    outputBombPeakBytes: bomb.peakBytes,
    outputBombMs: Math.round(bomb.ms),
    gvisorPooledMs: typeof gvisor === "string" ? null : Number(gvisor.gvisorPooledMs.toFixed(2)),
  }
}

function rounded(numbers: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, Number(value.toFixed(2))]))
}
