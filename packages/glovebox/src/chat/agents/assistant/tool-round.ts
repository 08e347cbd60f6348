import { errorMessage } from "../../../internal/error-message.ts"
import { type FunctionCall, assistantMessage } from "../../../models/index.ts"
import {
  type ChatItem,
  HandoffMessage,
  ToolCallExecutionEvent,
  ToolCallRequestEvent,
} from "../../messages/index.ts"
import { type CallRecord, imagesMessage, withoutAnswer } from "./call-record.ts"
import type { ModelTalk, Said } from "./model-talk.ts"
import type { AssistantSettings } from "./read-assistant-options.ts"
import { handoffContext, readHandoffs } from "./read-handoffs.ts"
import { runCalls } from "./run-calls.ts"
import type { Cap, TurnBudget } from "./turn-budget.ts"
import type { TurnClock } from "./turn-clock.ts"

export interface RoundContext {
  readonly settings: AssistantSettings
  readonly talk: ModelTalk
  readonly budget: TurnBudget
  readonly clock: TurnClock
  /** Gets what was called, in order. */
  readonly records: CallRecord[]
}

export interface RoundEnd {
  readonly handoff?: HandoffMessage | undefined
  readonly cap?: Cap | undefined
}

/**
 * Does what the model asks for in one answer. The conversation gets the calls together with their results, whatever
 * happens: a call that has no result would spoil every request after it.
 */
export async function* runRound(
  { result, ...said }: Said & { readonly calls: readonly FunctionCall[] },
  { settings, talk, budget, clock, records }: RoundContext,
): AsyncGenerator<ChatItem, RoundEnd, undefined> {
  const { name: source, handoffs, approve, parallelToolCalls: isParallel, metadata } = settings
  // Each is one of its own, also where a model's client gives one object twice.
  const calls = said.calls.map((call) => ({ ...call }))
  yield ToolCallRequestEvent({ content: calls, source, modelsUsage: talk.claimUsage() })

  const { chosen, records: handoffRecords } = await readHandoffs(calls, handoffs)
  const others = calls.filter(({ name }) => !handoffs.has(name))
  const { admitted, cap } = budget.admit(others.length)
  const refused = others.slice(admitted)
  const ended = new Map(refused.map((call) => [call, withoutAnswer(call, REFUSED)]))

  let failure: { readonly error: unknown } | undefined
  let isOver = false
  let all: readonly CallRecord[] = []
  try {
    yield* runCalls(others.slice(0, admitted), {
      source,
      table: talk.table,
      approve,
      signal: clock.signal,
      isParallel,
      onEnd: (record) => ended.set(record.call, record),
    })
    isOver = true
  } catch (error) {
    failure = { error }
    isOver = clock.isTimeout(error)
  } finally {
    // In a turn that fails or is left nothing is handed over.
    for (const record of isOver ? handoffRecords : []) ended.set(record.call, record)
    const why = whyNot(failure, clock)
    all = calls.map((call) => ended.get(call) ?? withoutAnswer(call, why))
    await keep(settings, result, all)
  }
  if (failure && !isOver) throw failure.error
  yield ToolCallExecutionEvent({ content: all.map((record) => record.result), source })
  records.push(...all.filter(({ call }) => !refused.includes(call)))
  if (!chosen) {
    if (failure) throw failure.error
    return { cap }
  }

  const context = handoffContext(
    all.filter(({ call }) => !handoffs.has(call.name)),
    { thought: result.thought, source },
  )
  return {
    handoff: HandoffMessage({ content: chosen.message, target: chosen.target, context, source, metadata }),
  }
}

const REFUSED = "Not called: nothing more may be called in this turn."

function whyNot(failure: { readonly error: unknown } | undefined, clock: TurnClock): string {
  const unknown = "Whether it took effect is not known."
  if (failure && clock.isTimeout(failure.error)) return `It did not end in the time of the turn. ${unknown}`
  if (!failure || clock.signal.aborted) return `It was cancelled before it ended. ${unknown}`
  return `It did not end: ${errorMessage(failure.error)}`
}

async function keep(
  { name, modelClient, modelContext }: AssistantSettings,
  result: Said["result"],
  records: readonly CallRecord[],
): Promise<void> {
  await modelContext.addMessage(assistantMessage(result, name))
  await modelContext.addMessage({
    type: "FunctionExecutionResultMessage",
    content: records.map((record) => record.result),
  })
  const images = modelClient.modelInfo.vision ? imagesMessage(records) : undefined
  if (images) await modelContext.addMessage(images)
}
