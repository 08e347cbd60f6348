import { GloveboxError, type JsonObject } from "../../core/index.ts"
import { warningLogger } from "../../core/logger.ts"
import { abortable } from "../../internal/abortable.ts"
import { Slots } from "../../internal/slots.ts"
import type { ChatAgent } from "../agents/chat-agent.ts"
import type { TaskRunner } from "../task/index.ts"
import { isChatAgent } from "../teams/participant.ts"
import type { Team } from "../teams/team.ts"

export type Runner = ChatAgent | Team

/** Whether each call begins anew, or with what the calls before left. */
export type RunnerState = "fresh" | "kept"

export interface BorrowedRunner {
  readonly runner: TaskRunner
  giveBack(): Promise<void>
}

/** Where a tool gets the agent or team for a call. */
export interface RunnerSource {
  borrow(signal: AbortSignal): Promise<BorrowedRunner>
}

/** One for all calls, which wait for each other; a fresh one has the state that it had when the tool was made. */
export function sharedRunner(runner: Runner, state: RunnerState): RunnerSource {
  const place = new Slots(1)
  const initial = state === "fresh" ? stateOf(runner) : undefined
  // Told to whoever calls the tool.
  initial?.catch(() => {})
  return {
    async borrow(signal) {
      const free = await place.take(signal)
      try {
        if (initial) await abortable(startOver(runner, await abortable(initial, signal), signal), signal)
      } catch (error) {
        free()
        throw error
      }
      return { runner, giveBack: async () => free() }
    },
  }
}

/** One for each call, so that none waits; it ends with the call. */
export function madeRunner(what: string, make: () => Runner | Promise<Runner>): RunnerSource {
  return {
    async borrow(signal) {
      const making = (async () => make())()
      try {
        const runner = await abortable(making, signal)
        const made: unknown = runner
        if (typeof made === "object" && made !== null && "runStream" in made) {
          return { runner, giveBack: async () => close(runner) }
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
async function startOver(runner: Runner, state: JsonObject, signal: AbortSignal): Promise<void> {
  if (isChatAgent(runner)) await runner.onReset({ signal })
  else await runner.reset()
  await runner.loadState(state)
}
