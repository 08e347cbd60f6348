import type {
  Approve,
  CallGuard,
  RunToolOptions,
  Tool,
  ToolResult,
  ToolStreamItem,
} from "../../tools/index.ts"
import { pendingOf } from "../task/index.ts"
import type { SuspendedCalls } from "./suspended-calls.ts"

/**
 * Makes a call of an agent or team. One that waited behind the tool goes on: leave for it was given when it began, also
 * where somebody changed the task then; what is done in it needs its own.
 */
export async function* streamCall(
  tool: Tool,
  calls: SuspendedCalls,
  args: unknown,
  options: RunToolOptions,
): AsyncGenerator<ToolStreamItem, ToolResult, undefined> {
  const { callId, approve, guard } = options
  const given = taskIn(args)
  const waiting = given === undefined ? undefined : calls.findGiven({ task: given, callId })
  if (waiting) {
    return yield* tool.stream({ task: waiting.task }, { ...options, guard: guard && agreedTo(guard) })
  }
  let task = given
  const asked: Approve | undefined =
    approve &&
    (async (request) => {
      const decision = await approve(request)
      if (decision.approved && decision.arguments !== undefined) task = taskIn(decision.arguments)
      return decision
    })
  try {
    return yield* tool.stream(args, { ...options, approve: asked })
  } catch (error) {
    if (given !== undefined && task !== undefined && task !== given && pendingOf(error)) {
      calls.nameAsGiven({ task, callId }, given)
    }
    throw error
  }
}

function agreedTo(guard: CallGuard): CallGuard {
  return { mustAsk: () => false, begin: async (call) => guard.begin(call) }
}

function taskIn(args: unknown): string | undefined {
  const { task } = (args ?? {}) as { readonly task?: unknown }
  return typeof task === "string" ? task : undefined
}
