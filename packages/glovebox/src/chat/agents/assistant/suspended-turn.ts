import { z } from "zod"
import { GloveboxError, type JsonObject } from "../../../core/index.ts"
import { type LLMMessage, functionCallSchema, imageSchema, llmMessageSchema } from "../../../models/index.ts"
import { functionResultSchema } from "../../messages/function-result-schema.ts"
import type { Approve } from "../../../tools/index.ts"
import type { CallRecord } from "./call-record.ts"
import type { AssistantSettings } from "./read-assistant-options.ts"
import type { Round } from "./tool-round.ts"
import { CAPS, type UsedBudget } from "./turn-budget.ts"

/** A turn that waits for approvals: all that is needed to go on without asking the model or making a call again. */
export interface SuspendedTurn {
  readonly round: Round
  readonly used: UsedBudget
  /** The calls of the rounds before. */
  readonly records: readonly CallRecord[]
  /** Whether it was told what is remembered. */
  readonly hasRemembered: boolean
  /** Whether the agent asks somebody itself, and not only what is behind its tools. */
  readonly isAsked: boolean
}

/** Where an agent keeps it. */
export interface HeldTurn {
  turn: SuspendedTurn | undefined
}

const count = z.number().nonnegative()
const outcome = { result: functionResultSchema, images: z.array(imageSchema) }

/** It as data. */
export const suspendedTurnSchema = z.strictObject({
  /** What the model asked for. */
  message: llmMessageSchema,
  /** The calls that have a result, by their place in it. */
  ended: z.array(z.strictObject({ call: z.int().nonnegative(), ...outcome })),
  /** Those that may not be made. */
  refused: z.array(z.int().nonnegative()),
  cap: z.enum(CAPS).optional(),
  later: z.array(llmMessageSchema),
  used: z.strictObject({ rounds: count, calls: count, tokens: count }),
  records: z.array(z.strictObject({ call: functionCallSchema, ...outcome })),
  hasRemembered: z.boolean(),
  isAsked: z.boolean().default(false),
})

type SavedTurn = z.output<typeof suspendedTurnSchema>

/** The same with what was said meanwhile. */
export function withLater(turn: SuspendedTurn, said: readonly LLMMessage[]): SuspendedTurn {
  return { ...turn, round: { ...turn.round, later: [...turn.round.later, ...said] } }
}

/** Whom an agent asks for leave to call a tool; undefined where nobody is asked. */
export function whoIsAsked({
  approve,
  governor,
}: Pick<AssistantSettings, "approve" | "governor">): Approve | undefined {
  return approve ?? governor?.approveTool
}

export function writeSuspendedTurn(turn: SuspendedTurn): JsonObject {
  const { round, used, records, hasRemembered, isAsked } = turn
  const { message, calls, cap, ended, refused, later } = round
  const saved: SavedTurn = {
    message,
    ended: [...ended.values()].map(({ call, result, images }) => ({
      call: calls.indexOf(call),
      result,
      images: [...images],
    })),
    refused: [...refused].map((call) => calls.indexOf(call)),
    cap,
    later: [...later],
    used,
    records: records.map(({ images, ...record }) => ({ ...record, images: [...images] })),
    hasRemembered,
    isAsked,
  }
  return JSON.parse(JSON.stringify(saved)) as JsonObject
}

/** @throws STATE_INVALID */
export function readSuspendedTurn(saved: SavedTurn): SuspendedTurn {
  const { message, ended, refused, cap, later, used, records, hasRemembered, isAsked } = saved
  if (message.type !== "AssistantMessage" || typeof message.content === "string") {
    throw new GloveboxError("STATE_INVALID", "The turn waits for approvals, and its model asked for nothing.")
  }
  const calls = message.content.map((call) => ({ ...call }))
  const at = (index: number): CallRecord["call"] => {
    const call = calls[index]
    if (call) return call
    throw new GloveboxError("STATE_INVALID", `The turn waits for approvals, and has no call ${index}.`)
  }
  const done = ended.map(({ call, ...rest }) => ({ ...rest, call: at(call) }))
  return {
    round: {
      message,
      calls,
      cap,
      ended: new Map(done.map((record) => [record.call, record])),
      refused: new Set(refused.map(at)),
      later,
    },
    used,
    records,
    hasRemembered,
    isAsked,
  }
}
