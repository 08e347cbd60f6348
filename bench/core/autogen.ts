import { fileURLToPath } from "node:url"
import { z } from "zod"
import { runAutogen } from "../autogen-python.ts"

const SCRIPT = fileURLToPath(new URL("autogen_core_bench.py", import.meta.url))
const TIMEOUT_MS = 60_000

const ratesSchema = z.object({
  version: z.string(),
  serialPerSecond: z.number(),
  concurrentPerSecond: z.number(),
  deliveriesPerSecond: z.number(),
})

/** What AutoGen's own runtime does in a second, on the same machine and in the same minute. */
export type AutogenRates = z.infer<typeof ratesSchema>

export async function measureAutogen(python: string): Promise<AutogenRates> {
  return ratesSchema.parse(await runAutogen(python, SCRIPT, TIMEOUT_MS))
}
