import { z } from "zod"
import { GloveboxError, type JsonObject } from "../../../core/index.ts"
import { formatIssues } from "../../../internal/format-issues.ts"
import type { AssistantSettings } from "./read-assistant-options.ts"

const state = z.record(z.string(), z.json())

const schema = z.strictObject({
  type: z.literal("AssistantAgentState"),
  version: z.literal(1),
  /** The conversation. */
  llmContext: state,
  /** Messages of a turn that did not end, which are in the conversation already. */
  unfinished: z.array(z.string()),
  /** What the tools keep, and the workbenches in their order. */
  tools: state,
  workbenches: z.array(state),
})

/** What an agent keeps, as data. */
export async function saveAssistantState(
  { modelContext, toolbox, workbenches }: AssistantSettings,
  unfinished: Iterable<string>,
): Promise<JsonObject> {
  const states: JsonObject[] = []
  for (const workbench of workbenches) states.push(await workbench.saveState())
  return {
    type: "AssistantAgentState",
    version: 1,
    llmContext: await modelContext.saveState(),
    unfinished: [...unfinished],
    tools: await toolbox.saveState(),
    workbenches: states,
  }
}

/** Restores it, and gives the ids of the messages of the unfinished turn. */
export async function loadAssistantState(
  { name, modelContext, toolbox, workbenches }: AssistantSettings,
  saved: JsonObject,
): Promise<readonly string[]> {
  const { data, error } = schema.safeParse(saved)
  if (error) throw invalid(`This is no state of ${name}, an AssistantAgent: ${formatIssues(error.issues)}`)
  if (data.workbenches.length !== workbenches.length) {
    throw invalid(
      `The state is of an agent with ${data.workbenches.length} workbenches; ${name} has ${workbenches.length}.`,
    )
  }
  await toolbox.loadState(data.tools)
  for (const [index, workbench] of workbenches.entries()) {
    await workbench.loadState(data.workbenches[index] ?? {})
  }
  await modelContext.loadState(data.llmContext)
  return data.unfinished
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("STATE_INVALID", message)
}
