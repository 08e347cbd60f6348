import { z } from "zod"

const blockSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("thinking"), thinking: z.string(), signature: z.string() }),
  z.object({ type: z.literal("redacted_thinking"), data: z.string() }),
  z.object({ type: z.literal("text"), text: z.string() }),
])

/** What came before the calls, or the text, of an answer with reasoning: it goes back unchanged. */
export type SignedBlock = z.output<typeof blockSchema>

/** Keeps the blocks as one text that travels with the message; undefined when nothing in them is signed. */
export function writeSignature(blocks: readonly SignedBlock[]): string | undefined {
  return blocks.some(({ type }) => type !== "text") ? JSON.stringify(blocks) : undefined
}

/** The blocks again; undefined for the signature of another provider. */
export function readSignature(text: string | undefined): SignedBlock[] | undefined {
  if (text === undefined) return undefined
  try {
    return z.array(blockSchema).safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
