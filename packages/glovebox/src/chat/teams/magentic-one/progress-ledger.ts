import { z } from "zod"
import { formatIssues } from "../../../internal/format-issues.ts"
import type { OutputSchema } from "../../../models/index.ts"
import { findJsonObjects } from "./json-objects.ts"

/** What the leader makes of the conversation: it is over, or somebody is to go on. */
export type Progress =
  | { readonly isSatisfied: true; readonly reason: string }
  | {
      readonly isSatisfied: false
      readonly isStuck: boolean
      readonly speaker: string
      readonly instruction: string
    }

type Read = Progress | { readonly problem: string }

const judged = z.object({ reason: z.string(), answer: z.boolean() })
const satisfiedSchema = z.object({ satisfied: judged.extend({ answer: z.literal(true) }) })
const ledgerSchema = z
  .object({
    satisfied: judged,
    looping: judged,
    progressing: judged,
    instruction: z.object({ reason: z.string(), answer: z.string().min(1) }),
  })
  .meta({ title: "ProgressLedger" })

/** Describes and reads the progress ledgers of one team. */
export class ProgressLedger {
  /** What a model is asked for. */
  readonly schema: OutputSchema
  readonly #choice: z.ZodType<{ readonly nextSpeaker: { readonly answer: string } }>

  constructor(speakers: readonly string[]) {
    const [alone, ...others] = speakers
    const shape = { nextSpeaker: z.object({ reason: z.string(), answer: z.enum(speakers) }) }
    const isChoice = others.length > 0
    this.schema = isChoice ? ledgerSchema.extend(shape).meta({ title: "ProgressLedger" }) : ledgerSchema
    // Whoever is alone need not be chosen.
    this.#choice = isChoice
      ? z.object(shape)
      : z.unknown().transform(() => ({ nextSpeaker: { answer: alone ?? "" } }))
  }

  /** Finds the ledger in a model's answer, or says what is wrong with it. */
  read(text: string): Read {
    const { objects, problem } = findJsonObjects(text)
    const read = objects.map((value) => this.#parse(value))
    const ledgers = read.filter((each) => !("problem" in each))
    const [only, ...others] = ledgers
    if (only && others.length === 0) return only
    if (only) return { problem: `there are ${ledgers.length} ledgers in it, and one is wanted` }
    // What is broken may have been the ledger, of which only parts can be read.
    if (problem !== undefined) return { problem }
    return read[0] ?? { problem: "there is no JSON object in it" }
  }

  #parse(value: unknown): Read {
    // Where nothing is left to do, it does not matter who would do it.
    const over = satisfiedSchema.safeParse(value)
    if (over.success) return { isSatisfied: true, reason: over.data.satisfied.reason }
    const ledger = ledgerSchema.safeParse(value)
    const choice = this.#choice.safeParse(value)
    if (!ledger.success || !choice.success) {
      return { problem: formatIssues([...(ledger.error?.issues ?? []), ...(choice.error?.issues ?? [])]) }
    }
    const { looping, progressing, instruction } = ledger.data
    return {
      isSatisfied: false,
      isStuck: looping.answer || !progressing.answer,
      speaker: choice.data.nextSpeaker.answer,
      instruction: instruction.answer,
    }
  }
}
