import { cpus } from "node:os"
import type { JsonObject } from "glovebox/core"
import { whole } from "../format-number.ts"
import { findAutogenPython } from "../autogen-python.ts"
import { measureAutogen } from "./autogen.ts"
import { autogenNumbers, growthNumbers, throughputNumbers } from "./core-numbers.ts"
import { growthReport, throughputReport } from "./core-report.ts"
import { measureGrowth } from "./growth.ts"
import { IDLE_AGENTS, measureIdleAgentBytes } from "./idle-agent-memory.ts"
import { measureThroughput } from "./throughput.ts"

/** How fast the in-process runtime is, what an agent costs, and whether cost grows with agents. */
export async function coreBench(print: (line: string) => void): Promise<JsonObject> {
  const python = await findAutogenPython("autogen_core")
  print(`Node ${process.version}, ${cpus()[0]?.model ?? "unknown CPU"}.`)
  print("Tracing is off: no OpenTelemetry SDK is installed, which is the default.")
  print("Handlers are async, and messages are made beforehand: schema checks are not measured.\n")

  const throughput = await measureThroughput()
  const autogen = python === undefined ? undefined : await measureAutogen(python)
  print(throughputReport(throughput, autogen))
  const growth = await measureGrowth("in turn")
  print(growthReport(growth, "in turn"))
  const shuffledGrowth = await measureGrowth("shuffled")
  print(growthReport(shuffledGrowth, "shuffled"))
  const bytesPerIdleAgent = Math.round(await measureIdleAgentBytes())
  print(`\nAn idle agent keeps ${bytesPerIdleAgent} bytes (heap after gc, ${whole(IDLE_AGENTS)} agents).`)

  return {
    tracing: "off",
    ...throughputNumbers(throughput),
    ...growthNumbers(growth),
    shuffled: growthNumbers(shuffledGrowth),
    bytesPerIdleAgent,
    autogen: autogenNumbers(throughput, autogen),
  }
}
