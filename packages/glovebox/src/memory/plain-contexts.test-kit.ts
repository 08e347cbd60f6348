import type { ChatCompletionClient, FunctionCall, LLMMessage } from "../models/index.ts"

// What contexts show, told as plainly as can be: from all messages, each time anew.

type Unit = readonly LLMMessage[]

function unitsOf(messages: readonly LLMMessage[]): Unit[] {
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
    const joined = [...units.splice(first).flat(), message]
    units.push(joined)
    for (const { id } of joined.flatMap(callsOf)) unitOfCall.set(id, first)
  }
  return units
}

function callsOf(message: LLMMessage): readonly FunctionCall[] {
  return message.type === "AssistantMessage" && typeof message.content !== "string" ? message.content : []
}

function firstUnits(units: readonly Unit[], limit: number): Unit[] {
  let count = 0
  const end = units.findIndex((unit) => (count += unit.length) > limit)
  return units.slice(0, end === -1 ? units.length : end)
}

function lastUnits(units: readonly Unit[], limit: number): Unit[] {
  const last = firstUnits(units.toReversed(), limit).toReversed()
  return last.length === 0 ? units.slice(-1) : last
}

export function buffered(messages: readonly LLMMessage[], size: number): LLMMessage[] {
  return lastUnits(unitsOf(messages), size).flat()
}

export function headAndTail(
  messages: readonly LLMMessage[],
  headSize: number,
  tailSize: number,
): LLMMessage[] {
  const units = unitsOf(messages)
  const whole = units.flat()
  if (whole.length <= headSize + tailSize) return whole
  const head = firstUnits(units, headSize)
  const tail = lastUnits(units.slice(head.length), tailSize)
  const skipped = whole.length - head.flat().length - tail.flat().length
  if (skipped === 0) return whole
  const gap: LLMMessage = { type: "UserMessage", content: `Skipped ${skipped} messages.`, source: "System" }
  return [...head.flat(), gap, ...tail.flat()]
}

/** Leaves out one unit after the other, the one nearest to the middle first; undefined when nothing is short enough. */
export async function tokenLimited(
  messages: readonly LLMMessage[],
  client: ChatCompletionClient,
  limit: number,
): Promise<LLMMessage[] | undefined> {
  const units = unitsOf(messages)
  const middle = (units.length - 1) / 2
  const order = units
    .map((_unit, index) => index)
    .filter((index) => index !== units.length - 1 && units[index]?.[0]?.type !== "SystemMessage")
    .toSorted((a, b) => Math.abs(a - middle) - Math.abs(b - middle) || a - b)
  for (let count = 0; count <= order.length; count += 1) {
    const gone = new Set(order.slice(0, count))
    const left = units.filter((_unit, index) => !gone.has(index)).flat()
    if ((await client.countTokens(left)).tokens <= limit) return left
  }
  return undefined
}
