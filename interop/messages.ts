import { type AnyMessageType, type Message, defineMessage } from "glovebox/core"
import { z } from "zod"
import type { PlainMessage } from "./peer.ts"

const detail = z.object({ level: z.int(), note: z.string().nullable().default(null) })

/** The classes of `python/messages.py`. */
export const Ask = defineMessage("Ask", z.object({ text: z.string(), details: z.array(detail).default([]) }))
export const Answer = defineMessage(
  "Answer",
  z.object({
    text: z.string(),
    by: z.string(),
    sender: z.string(),
    details: z.array(detail).default([]),
  }),
)
export const Reading = defineMessage(
  "Reading",
  z.object({ sensor: z.string(), value: z.number(), good: z.boolean() }),
)
export const Walk = defineMessage("Walk", z.object({ path: z.array(z.string()), step: z.int().default(0) }))
export const Trail = defineMessage("Trail", z.object({ steps: z.array(z.string()) }))
const Unheard = defineMessage("Unheard", z.object({ text: z.string() }))

const TYPES: readonly AnyMessageType[] = [Ask, Answer, Reading, Walk, Trail, Unheard]

export function readMessage({ type, message }: PlainMessage): Message {
  const found = TYPES.find(({ typeName }) => typeName === type)
  if (found === undefined) throw new Error(`There is no message ${type}.`)
  return found.parse(message)
}
