import { cpus } from "node:os"
import type { JsonObject } from "glovebox/core"
import { findAutogenPython } from "../autogen-python.ts"
import { measureAutogen } from "./autogen.ts"
import { chatReport } from "./chat-report.ts"
import { measureMessageBytes } from "./message-memory.ts"
import { growthRatio, measureTurnGrowth } from "./turn-growth.ts"
import { measureTurnRate } from "./turn-rate.ts"
import { SHOWN } from "./two-agents.ts"

/** How fast a team of two agents talks, whether a turn costs more as the conversation grows, and what a message keeps. */
export async function chatBench(print: (line: string) => void): Promise<JsonObject> {
  const python = await findAutogenPython("autogen_agentchat", "autogen_ext")
  print(`Node ${process.version}, ${cpus()[0]?.model ?? "unknown CPU"}.`)
  print(`Two agents speak in turn; their models answer at once, and are shown the last ${SHOWN} messages.\n`)

  const turnsPerSecond = await measureTurnRate()
  const growth = await measureTurnGrowth()
  const bytesPerMessage = Math.round(await measureMessageBytes())
  const autogen = python === undefined ? undefined : await measureAutogen(python)
  const ours = { turnsPerSecond, growth, bytesPerMessage }
  print(chatReport(ours, autogen))

  return {
    turnsPerSecond: Math.round(turnsPerSecond),
    growth: growth.map(({ messages, medianUs }) => ({ messages, medianUs: rounded(medianUs) })),
    growth10kMessages: rounded(growthRatio(growth)),
    bytesPerMessage,
    autogen: autogen
      ? {
          version: autogen.version,
          turnsPerSecond: Math.round(autogen.turnsPerSecond),
          turnsRatio: rounded(turnsPerSecond / autogen.turnsPerSecond),
          growth: autogen.growth.map(({ messages, medianUs }) => ({ messages, medianUs: rounded(medianUs) })),
          growth10kMessages: rounded(growthRatio(autogen.growth)),
          bytesPerMessage: Math.round(autogen.bytesPerMessage),
        }
      : null,
  }
}

function rounded(value: number): number {
  return Number(value.toFixed(3))
}
