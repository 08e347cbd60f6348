import { z } from "zod"
import { sha256Of } from "../../governance/audit/index.ts"
import { rowLines, textLines } from "./account-rows.ts"

const codeSchema = z.object({
  codeBlocks: z.array(
    z.object({ language: z.string(), code: z.string().optional(), sha256: z.string().optional() }),
  ),
})

type Block = z.output<typeof codeSchema>["codeBlocks"][number]

/** What somebody was asked about, as far as it was recorded. */
export function payloadLines(name: string, payload: unknown, indent: string): string[] {
  if (payload === undefined) return []
  const { data } = codeSchema.safeParse(payload)
  if (data) return blockLines(name, data.codeBlocks, indent)
  return rowLines("", [[name, JSON.stringify(payload)]], indent).slice(1)
}

/** Code by its hash, and itself where it was recorded. */
export function blockLines(name: string, blocks: readonly Block[], indent: string): string[] {
  return blocks.flatMap(({ language, code, sha256 = code === undefined ? "unknown" : sha256Of(code) }) => [
    ...rowLines("", [[name, `${language}, sha256 ${sha256}`]], indent).slice(1),
    ...textLines(code, `${indent}  `),
  ])
}
