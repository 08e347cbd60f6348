import { cpus } from "node:os"
import { fileURLToPath } from "node:url"
import type { JsonObject } from "glovebox/core"
import { findAutogenPython } from "../autogen-python.ts"
import { autogenContender, echoContender, gloveboxContender, relayContender } from "./contender.ts"
import { measureGrowth } from "./growth.ts"
import { type GrpcNumbers, compare, growthNumbers, paceNumbers } from "./grpc-numbers.ts"
import { growthReport, paceReport } from "./grpc-report.ts"
import { measureTurns } from "./measure-turns.ts"
import type { Workload } from "./workload.ts"

const SCRIPT = fileURLToPath(new URL("autogen_grpc_bench.py", import.meta.url))
const WORKLOADS: readonly Workload[] = ["serial", "concurrent", "publish"]

/** How fast agents in other processes answer through a host, and whether that costs more when many are connected. */
export async function grpcBench(print: (line: string) => void): Promise<JsonObject> {
  const python = await findAutogenPython("autogen_core", "autogen_ext.runtimes.grpc")
  print(
    `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? "unknown CPU"}, loopback, no TLS.\n`,
  )
  const { numbers, version } = await measurePaces(python)
  print(paceReport(numbers, version))
  const growth = await measureGrowth()
  print(growthReport(growth))
  return { ...paceNumbers(numbers), growth: growthNumbers(growth), autogenVersion: version ?? null }
}

interface Measured {
  readonly numbers: readonly GrpcNumbers[]
  readonly version: string | undefined
}

async function measurePaces(python: string | undefined): Promise<Measured> {
  await using ours = await gloveboxContender()
  await using echo = await echoContender()
  await using relay = await relayContender()
  await using autogen = python === undefined ? undefined : await autogenContender(python, SCRIPT)
  const numbers: GrpcNumbers[] = []
  for (const workload of WORKLOADS) {
    const paces = autogen
      ? await measureTurns({ ours, echo, relay, autogen }, workload)
      : await measureTurns({ ours, echo, relay }, workload)
    numbers.push(compare(workload, paces))
  }
  return { numbers, version: autogen?.version }
}
