import { z } from "zod"
import type { ChatMessage } from "../messages/index.ts"

/** What is let through of one source. */
export interface PerSourceFilter {
  readonly source: string
  /** Which end of its messages counts. @default all of them are let through */
  readonly position?: "first" | "last" | undefined
  /** How many from that end; 0 is no bound. @default 0 */
  readonly count?: number | undefined
}

export interface MessageFilter {
  readonly perSource: readonly PerSourceFilter[]
  /** In the order in which they were said, or rule by rule. @default "chronological" */
  readonly order?: "chronological" | "rules" | undefined
}

const ruleSchema = z
  .strictObject({
    source: z.string().min(1),
    position: z.enum(["first", "last"]).optional(),
    count: z.int().nonnegative().default(0),
  })
  .refine(({ position, count }) => position !== undefined || count === 0, {
    message: "has a count and no position: say whether the first or the last are meant",
  })

export const messageFilterSchema = z.strictObject({
  perSource: z.array(ruleSchema),
  order: z.enum(["chronological", "rules"]).default("chronological"),
})

/** The messages that some rule lets through, each once. */
export function filterMessages(
  { perSource, order }: z.output<typeof messageFilterSchema>,
  messages: readonly ChatMessage[],
): readonly ChatMessage[] {
  const chosen = new Set(perSource.flatMap((rule) => choose(rule, messages)))
  return order === "rules" ? [...chosen] : messages.filter((message) => chosen.has(message))
}

function choose(
  { source, position, count }: z.output<typeof ruleSchema>,
  messages: readonly ChatMessage[],
): readonly ChatMessage[] {
  const said = messages.filter((message) => message.source === source)
  if (count === 0 || position === undefined) return said
  return position === "first" ? said.slice(0, count) : said.slice(-count)
}
