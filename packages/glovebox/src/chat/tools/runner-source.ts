import { AsyncLocalStorage } from "node:async_hooks"
import { GloveboxError, type JsonObject } from "../../core/index.ts"
import { warningLogger } from "../../core/logger.ts"
import { abortable } from "../../internal/abortable.ts"
import { atMost } from "../../internal/at-most.ts"
import { Slots } from "../../internal/slots.ts"
import { BaseChatAgent } from "../agents/base-chat-agent.ts"
import type { ChatAgent } from "../agents/chat-agent.ts"
import type { TaskRunner } from "../task/index.ts"
import { isChatAgent } from "../teams/participant.ts"
import type { Team } from "../teams/team.ts"

export type Runner = ChatAgent | Team

/** Whether each call begins anew, or with what the calls before left. */
export type RunnerState = "fresh" | "kept"

/** How long what was cancelled may keep others waiting. */
export const LEFTOVER_MS = 5_000

export interface BorrowedRunner {
  readonly runner: TaskRunner
  /** Does a part of the task, from which it is known who works on it. */
  within<Result>(work: () => Result): Result
  saveState(): Promise<JsonObject>
  loadState(state: JsonObject): Promise<void>
  giveBack(): Promise<void>
}

/** Where a tool gets the agent or team for a call. */
export interface RunnerSource {
  /** Whether it is the same for all calls, with what they left. */
  readonly isKept: boolean
  /** With a state that it is to go on from; one that is kept has it. */
  borrow(signal: AbortSignal, state?: JsonObject): Promise<BorrowedRunner>
}

// The runners that are at work for whoever asks: to wait for one of them would be for ever.
const atWork = new AsyncLocalStorage<readonly Runner[]>()

/** One for all calls, which wait for each other; a fresh one has the state that it had when the tool was made. */
export function sharedRunner(runner: Runner, state: RunnerState): RunnerSource {
  const place = new Slots(1)
  const initial = state === "fresh" ? stateOf(runner) : undefined
  // Told to whoever calls the tool.
  initial?.catch(() => {})
  return {
    isKept: state === "kept",
    async borrow(signal, from) {
      const above = atWork.getStore() ?? []
      if (above.includes(runner)) throw ownTask(runner)
      const free = await place.take(signal)
      const ready = initial ? startOver(runner, from ?? initial, signal) : Promise.resolve()
      try {
        await abortable(ready, signal)
      } catch (error) {
        // A reset that is under way must not come into the next call.
        void atMost(ready, LEFTOVER_MS).then(free)
        throw error
      }
      const chain = [...above, runner]
      return {
        runner,
        within: (work) => atWork.run(chain, work),
        saveState: async () => runner.saveState(),
        loadState: async (state) => {
          if (runner instanceof BaseChatAgent) await runner.whenIdle(signal)
          await runner.loadState(state)
        },
        giveBack: async () => free(),
      }
    },
  }
}

/** One for each call, so that none waits; it ends with the call. */
export function madeRunner(what: string, make: () => Runner | Promise<Runner>): RunnerSource {
  return {
    isKept: false,
    async borrow(signal, from) {
      const making = (async () => make())()
      try {
        const runner = await abortable(making, signal)
        const made: unknown = runner
        if (typeof made === "object" && made !== null && "runStream" in made) {
          if (from) await goOnFrom(runner, from, signal)
          return {
            runner,
            within: (work) => work(),
            saveState: async () => runner.saveState(),
            loadState: async (state) => runner.loadState(state),
            giveBack: async () => close(runner),
          }
        }
      } catch (error) {
        // One that comes too late ends unused.
        if (signal.aborted) making.then(close).catch(() => {})
        throw error
      }
      throw new GloveboxError("TOOL_INVALID", `The function that makes a runner for ${what} made none.`)
    },
  }
}

// One that refuses its state ends unused.
async function goOnFrom(runner: Runner, state: JsonObject, signal: AbortSignal): Promise<void> {
  try {
    await abortable(runner.loadState(state), signal)
  } catch (error) {
    if (!signal.aborted) await close(runner)
    throw error
  }
}

// The answer is there all the same.
async function close(runner: Runner): Promise<void> {
  try {
    await runner.close()
  } catch (error) {
    warningLogger.error(`${runner.name} did not close`, { error })
  }
}

async function stateOf(runner: Runner): Promise<JsonObject> {
  return runner.saveState()
}

// Both: what an agent does not tell in its state, it may still forget.
async function startOver(
  runner: Runner,
  initial: JsonObject | Promise<JsonObject>,
  signal: AbortSignal,
): Promise<void> {
  const state = await initial
  // An agent that somebody else runs would lose what it works on; a team looks itself.
  if (runner instanceof BaseChatAgent) await runner.whenIdle(signal)
  if (isChatAgent(runner)) await runner.onReset({ signal })
  else await runner.reset()
  await runner.loadState(state)
}

function ownTask({ name }: Runner): GloveboxError {
  return new GloveboxError(
    "RUN_ACTIVE",
    `${name} works on the task that this is a part of, and cannot take another before it ends. Give it to somebody else.`,
  )
}
