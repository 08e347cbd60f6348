import { fileURLToPath } from "node:url"
import { z } from "zod"
import { runAutogen } from "../autogen-python.ts"

const SCRIPT = fileURLToPath(new URL("autogen_chat_bench.py", import.meta.url))
const TIMEOUT_MS = 10 * 60_000

const numbersSchema = z.object({
  version: z.string(),
  turnsPerSecond: z.number(),
  growth: z.array(z.object({ messages: z.number(), medianUs: z.number() })),
  bytesPerMessage: z.number(),
})

/** What the same script does with AutoGen, on the same machine and in the same minutes. */
export type AutogenNumbers = z.infer<typeof numbersSchema>

export async function measureAutogen(python: string): Promise<AutogenNumbers> {
  return numbersSchema.parse(await runAutogen(python, SCRIPT, TIMEOUT_MS))
}
