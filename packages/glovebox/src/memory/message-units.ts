import type { FunctionCall, LLMMessage } from "../models/index.ts"

/** Messages that stay or go together: a call and its results, or one of any other kind. */
export type MessageUnit = readonly LLMMessage[]

/**
 * Cuts a conversation where it may be cut: nowhere between a call and the last of its results.
 * Results whose call is not there are left out: no model takes them.
 */
export function toUnits(messages: readonly LLMMessage[]): MessageUnit[] {
  const units: LLMMessage[][] = []
  const unitOfCall = new Map<string, number>()
  for (const message of messages) {
    if (message.type !== "FunctionExecutionResultMessage") {
      units.push([message])
      for (const { id } of callsOf(message)) unitOfCall.set(id, units.length - 1)
      continue
    }
    const answered = message.content.flatMap(({ callId }) => unitOfCall.get(callId) ?? [])
    if (answered.length === 0) continue
    const first = Math.min(...answered)
    // What was said in between stays with them, in its place.
    const joined = [...units.splice(first).flat(), message]
    units.push(joined)
    for (const { id } of joined.flatMap(callsOf)) unitOfCall.set(id, first)
  }
  return units
}

function callsOf(message: LLMMessage): readonly FunctionCall[] {
  return message.type === "AssistantMessage" && typeof message.content !== "string" ? message.content : []
}

/** The first units that have at most so many messages together. */
export function firstUnits(units: readonly MessageUnit[], limit: number): MessageUnit[] {
  let count = 0
  const end = units.findIndex((unit) => (count += unit.length) > limit)
  return units.slice(0, end === -1 ? units.length : end)
}

/** The last units that have at most so many messages together, and in any case the last one. */
export function lastUnits(units: readonly MessageUnit[], limit: number): MessageUnit[] {
  const last = firstUnits(units.toReversed(), limit).toReversed()
  return last.length === 0 ? units.slice(-1) : last
}
