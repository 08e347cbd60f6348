import type { LLMMessage } from "../models/index.ts"

/** Messages that stay or go together: a call and its results, or one of any other kind. */
export type MessageUnit = readonly LLMMessage[]

/** Cuts a conversation where it may be cut. Results whose call is not there are left out: no model takes them. */
export function toUnits(messages: readonly LLMMessage[]): MessageUnit[] {
  const units: LLMMessage[][] = []
  let isOpen = false
  for (const message of messages) {
    if (message.type === "FunctionExecutionResultMessage") {
      if (isOpen) units.at(-1)?.push(message)
      continue
    }
    units.push([message])
    isOpen = message.type === "AssistantMessage" && typeof message.content !== "string"
  }
  return units
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
