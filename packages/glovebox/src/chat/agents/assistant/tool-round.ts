import { errorMessage } from "../../../internal/error-message.ts"
import type { AssistantMessage, FunctionCall, LLMMessage } from "../../../models/index.ts"
import { type ChatItem, HandoffMessage, ToolCallExecutionEvent } from "../../messages/index.ts"
import { type CallRecord, imagesMessage, withoutAnswer } from "./call-record.ts"
import { forgetCalls } from "./forget-calls.ts"
import type { ModelTalk } from "./model-talk.ts"
import type { AssistantSettings } from "./read-assistant-options.ts"
import { handoffContext, readHandoffs } from "./read-handoffs.ts"
import { runCalls } from "./run-calls.ts"
import { type HeldTurn, whoIsAsked } from "./suspended-turn.ts"
import type { Cap, TurnBudget } from "./turn-budget.ts"
import type { TurnClock } from "./turn-clock.ts"

/** What the model asks for in one answer, and what has come of it. */
export interface Round {
  /** The answer. */
  readonly message: AssistantMessage
  /** Each is one of its own, also where a model's client gives one object twice. */
  readonly calls: readonly FunctionCall[]
  /** Why not all of them may be made. */
  readonly cap: Cap | undefined
  /** Those that have a result, or that may not be made. */
  readonly ended: Map<FunctionCall, CallRecord>
  /** Those that may not be made. */
  readonly refused: ReadonlySet<FunctionCall>
  /** What was said while it waited for approvals; it comes after it in the conversation. */
  readonly later: readonly LLMMessage[]
}

export interface RoundContext {
  readonly settings: AssistantSettings
  readonly talk: ModelTalk
  readonly budget: TurnBudget
  readonly clock: TurnClock
  /** Gets what was called, in order. */
  readonly records: CallRecord[]
  /** The turn that waits, until its round is written down. */
  readonly held: HeldTurn
}

export interface RoundEnd {
  readonly handoff?: HandoffMessage | undefined
  readonly cap?: Cap | undefined
  /** The ids of the requests for approvals that calls wait for; the round goes on when it is run again. */
  readonly pending?: readonly string[] | undefined
}

export function beginRound(
  message: AssistantMessage,
  content: readonly FunctionCall[],
  { settings: { handoffs }, budget }: RoundContext,
): Round {
  const calls = content.map((call) => ({ ...call }))
  const others = calls.filter(({ name }) => !handoffs.has(name))
  const { admitted, cap } = budget.admit(others.length)
  const refused = others.slice(admitted)
  const ended = new Map(refused.map((call) => [call, withoutAnswer(call, REFUSED)]))
  return { message, calls, cap, ended, refused: new Set(refused), later: [] }
}

/**
 * Makes the calls that have no result yet. The conversation gets the calls together with their results, whatever
 * happens: a call that has no result would spoil every request after it. Only of a round that waits it gets nothing.
 */
export async function* runRound(
  round: Round,
  { settings, talk, clock, records, held }: RoundContext,
): AsyncGenerator<ChatItem, RoundEnd, undefined> {
  const { calls, cap, message, ended, refused } = round
  const { name: source, handoffs, authorize, parallelToolCalls: isParallel, metadata } = settings
  const { chosen, records: handoffRecords } = await readHandoffs(calls, handoffs)
  const open = calls.filter((call) => !handoffs.has(call.name) && !ended.has(call))

  const waiting = new Map<FunctionCall, readonly string[]>()
  const begun = new Set<FunctionCall>()
  let failure: { readonly error: unknown } | undefined
  let isOver = false
  let isWaiting = false
  let all: readonly CallRecord[] = []
  try {
    yield* runCalls(open, {
      source,
      table: talk.table,
      approve: whoIsAsked(settings),
      authorize,
      signal: clock.signal,
      isParallel,
      onEnd: (record) => ended.set(record.call, record),
      onWait: (call, pending) => waiting.set(call, pending),
      onBegin: (call) => begun.add(call),
      // Nothing is done before the answer.
      onAsk: (call) => begun.delete(call),
    })
    isWaiting = waiting.size > 0
    isOver = !isWaiting
  } catch (error) {
    failure = { error }
    isOver = clock.isTimeout(error)
  } finally {
    const why = whyNot(failure, clock)
    const isCancelled = !isOver && clock.signal.aborted
    const left = open.filter((call) => !ended.has(call))
    const cut = left.filter((call) => begun.has(call) && !waiting.has(call))
    if (held.turn?.round === round && isCancelled && cut.length < left.length) {
      // Who cancels what goes on after a wait does not take back the question: the rest waits as before.
      for (const call of cut) ended.set(call, withoutAnswer(call, why))
      forgetCalls(settings, cut)
    } else if (!isWaiting) {
      // In a turn that fails or is left nothing is handed over.
      for (const record of isOver ? handoffRecords : []) ended.set(record.call, record)
      all = calls.map(
        (call) => ended.get(call) ?? withoutAnswer(call, waiting.has(call) ? NOT_APPROVED : why),
      )
      held.turn = undefined
      forgetCalls(settings, left)
      await keep(settings, round, all)
    }
  }
  if (isWaiting) return { pending: [...new Set(calls.flatMap((call) => waiting.get(call) ?? []))] }
  if (failure && !isOver) throw failure.error
  yield ToolCallExecutionEvent({ content: all.map((record) => record.result), source })
  records.push(...all.filter(({ call }) => !refused.has(call)))
  if (!chosen) {
    if (failure) throw failure.error
    return { cap }
  }

  const context = handoffContext(
    all.filter(({ call }) => !handoffs.has(call.name)),
    { thought: message.thought, source },
  )
  return {
    handoff: HandoffMessage({ content: chosen.message, target: chosen.target, context, source, metadata }),
  }
}

const REFUSED = "Not called: nothing more may be called in this turn."
const NOT_APPROVED = "It still waited for an approval when the turn ended."

function whyNot(failure: { readonly error: unknown } | undefined, clock: TurnClock): string {
  const unknown = "Whether it took effect is not known."
  if (failure && clock.isTimeout(failure.error)) return `It did not end in the time of the turn. ${unknown}`
  if (!failure || clock.signal.aborted) return `It was cancelled before it ended. ${unknown}`
  return `It did not end: ${errorMessage(failure.error)}`
}

async function keep(
  { modelClient, modelContext }: AssistantSettings,
  { message, later }: Round,
  records: readonly CallRecord[],
): Promise<void> {
  await modelContext.addMessage(message)
  await modelContext.addMessage({
    type: "FunctionExecutionResultMessage",
    content: records.map((record) => record.result),
  })
  const images = modelClient.modelInfo.vision ? imagesMessage(records) : undefined
  if (images) await modelContext.addMessage(images)
  for (const each of later) await modelContext.addMessage(each)
}
