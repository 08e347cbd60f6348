import { cpus } from "node:os"
import type { JsonObject } from "glovebox/core"
import { GloveboxError } from "glovebox/core"
import { BenchError } from "../bench-error.ts"
import { findHostPython } from "../host-python.ts"
import { type TierNumbers, executorsReport } from "./executors-report.ts"
import { measureInstanceBytes } from "./instance-memory.ts"
import { measureTier } from "./tier-times.ts"
import { TIERS } from "./tiers.ts"

const GOALS =
  "Goals: wasm fresh at most 10 and session at most 0.2 of the host, bubblewrap fresh at most 1.5, jupyter at most 1."

/** What code costs in every tier, beside the same code on the host. */
export async function executorsBench(print: (line: string) => void): Promise<JsonObject> {
  const python = await findHostPython()
  print(
    `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? "unknown CPU"}; host: ${python}.\n`,
  )
  const numbers: TierNumbers[] = []
  for (const tier of TIERS) {
    try {
      const instanceBytes = await measureInstanceBytes(tier)
      numbers.push({ ...(await measureTier(tier, python)), instanceBytes })
    } catch (error) {
      if (!GloveboxError.is(error)) throw error
      throw new BenchError(`The tier ${tier.name} does not run here: ${error.message}`, { cause: error })
    }
  }
  print(executorsReport(numbers))
  print(GOALS)
  return Object.fromEntries(numbers.map(({ name, ...rest }) => [name, rounded(rest)]))
}

function rounded(numbers: Omit<TierNumbers, "name">): JsonObject {
  return Object.fromEntries(
    Object.entries(numbers).map(([name, value]) => [
      name,
      typeof value === "number" ? Number(value.toFixed(2)) : null,
    ]),
  )
}
