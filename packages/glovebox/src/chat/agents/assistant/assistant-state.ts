import { z } from "zod"
import { GloveboxError, type JsonObject } from "../../../core/index.ts"
import { formatIssues } from "../../../internal/format-issues.ts"
import { forgetHeld } from "./forget-calls.ts"
import type { AssistantSettings } from "./read-assistant-options.ts"
import {
  type HeldTurn,
  type SuspendedTurn,
  readSuspendedTurn,
  suspendedTurnSchema,
  whoIsAsked,
  writeSuspendedTurn,
} from "./suspended-turn.ts"

const state = z.record(z.string(), z.json())

const schema = z.strictObject({
  type: z.literal("AssistantAgentState"),
  version: z.literal(1),
  /** The conversation. */
  llmContext: state,
  lastTurn: z.strictObject({ messages: z.array(z.string()), isOver: z.boolean() }),
  /** Where it waits for approvals. */
  suspended: suspendedTurnSchema.optional(),
  /** What the tools keep, and the workbenches in their order. */
  tools: state,
  workbenches: z.array(state),
})

/** The turn that an agent had last: its messages are in the conversation, and may come again if it did not end or was not heard. */
export interface LastTurn {
  /** Their ids. */
  messages: Set<string>
  isOver: boolean
}

/** What an agent keeps, as data. */
export async function saveAssistantState(
  { modelContext, toolbox, workbenches }: AssistantSettings,
  { messages, isOver }: LastTurn,
  suspended: SuspendedTurn | undefined,
): Promise<JsonObject> {
  const states: JsonObject[] = []
  for (const workbench of workbenches) states.push(await workbench.saveState())
  return {
    type: "AssistantAgentState",
    version: 1,
    llmContext: await modelContext.saveState(),
    lastTurn: { messages: [...messages], isOver },
    ...(suspended && { suspended: writeSuspendedTurn(suspended) }),
    tools: await toolbox.saveState(),
    workbenches: states,
  }
}

/** Restores it, and gives the turn that was the last, and where it waits. */
export async function loadAssistantState(
  settings: AssistantSettings,
  held: HeldTurn,
  saved: JsonObject,
): Promise<{ readonly lastTurn: LastTurn; readonly suspended: SuspendedTurn | undefined }> {
  const { name, modelContext, toolbox, workbenches } = settings
  const { data, error } = schema.safeParse(saved)
  if (error) throw invalid(`This is no state of ${name}, an AssistantAgent: ${formatIssues(error.issues)}`)
  if (data.workbenches.length !== workbenches.length) {
    throw invalid(
      `The state is of an agent with ${data.workbenches.length} workbenches; ${name} has ${workbenches.length}.`,
    )
  }
  const suspended = data.suspended && readSuspendedTurn(data.suspended)
  // What waited for a word must not be done because here nobody is asked.
  if (suspended?.isAsked === true && !whoIsAsked(settings)) {
    throw invalid(
      `The state of ${name} has calls that wait for approvals, and here nobody is asked. Pass governance or approve.`,
    )
  }
  // Before they get theirs, which may be of calls with the same ids.
  forgetHeld(settings, held)
  await toolbox.loadState(data.tools)
  for (const [index, workbench] of workbenches.entries()) {
    await workbench.loadState(data.workbenches[index] ?? {})
  }
  await modelContext.loadState(data.llmContext)
  const { messages, isOver } = data.lastTurn
  return { lastTurn: { messages: new Set(messages), isOver }, suspended }
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("STATE_INVALID", message)
}
