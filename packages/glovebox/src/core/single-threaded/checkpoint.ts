import { errorMessage } from "../../internal/error-message.ts"
import { formatAgentId, parseAgentId } from "../agent-id.ts"
import type { Agent } from "../agent.ts"
import { GloveboxError } from "../glovebox-error.ts"
import type { JsonObject } from "../json.ts"
import { checkAgentState, createRuntimeState, invalidState, parseRuntimeState } from "../runtime-state.ts"
import type { Subscription } from "../subscription.ts"
import type { AgentDirectory } from "./agent-directory.ts"
import type { Mailbox } from "./mailbox.ts"

/** Asks an agent for its state. */
export async function saveAgent(mailbox: Mailbox, agent: Agent): Promise<JsonObject> {
  const name = formatAgentId(mailbox.id)
  try {
    const state: unknown = await agent.saveState()
    checkAgentState(name, state)
    // A copy, so that the agent cannot change a checkpoint by going on.
    return structuredClone(state)
  } catch (cause) {
    if (GloveboxError.is(cause, "STATE_INVALID")) throw cause
    throw invalidState(`Agent ${name} could not save its state: ${errorMessage(cause)}`, cause)
  }
}

/** The state of all agents that exist. */
export async function saveAgents(
  directory: AgentDirectory,
  subscriptions: readonly Subscription[],
): Promise<JsonObject> {
  const agents: Record<string, JsonObject> = {}
  for (const mailbox of directory.agents()) {
    if (mailbox.agent) agents[formatAgentId(mailbox.id)] = await saveAgent(mailbox, mailbox.agent)
  }
  return createRuntimeState(agents, subscriptions)
}

/** Gives all agents of a checkpoint their state, or leaves them as they were. */
export async function loadAgents(
  directory: AgentDirectory,
  checkpoint: JsonObject,
  signal: AbortSignal | undefined,
  restoreSubscriptions: (subscriptions: readonly Subscription[]) => void,
): Promise<void> {
  const { agents, subscriptions } = parseRuntimeState(checkpoint)
  const entries = Object.entries(agents).map(([name, state]) => ({ name, id: parseAgentId(name), state }))
  const wanted = [...entries.map(({ id }) => id.type), ...subscriptions.map(({ agentType }) => agentType)]
  const unknown = [...new Set(wanted)].filter((type) => !directory.has(type))
  if (unknown.length > 0) {
    throw invalidState(
      `The state has agents of types that are not registered: ${unknown.join(", ")}. Register them first.`,
    )
  }
  const undo: (() => Promise<void>)[] = []
  try {
    for (const { name, id, state } of entries) {
      const mailbox = directory.mailbox(id)
      signal?.throwIfAborted()
      undo.push(await undoFor(directory, mailbox))
      await loadAgent(name, await directory.agent(mailbox), state)
    }
    signal?.throwIfAborted()
    restoreSubscriptions(subscriptions)
  } catch (error) {
    for (const step of undo.toReversed()) {
      // Each is tried, and what went wrong first is what is told.
      await step().catch(() => {})
    }
    throw error
  }
}

export async function loadAgent(name: string, agent: Agent, state: JsonObject): Promise<void> {
  try {
    await agent.loadState(structuredClone(state))
  } catch (cause) {
    throw invalidState(`Agent ${name} could not load its state: ${errorMessage(cause)}`, cause)
  }
}

async function undoFor(directory: AgentDirectory, mailbox: Mailbox): Promise<() => Promise<void>> {
  const { agent } = mailbox
  if (!agent) {
    return () => directory.discard(mailbox)
  }
  const before = await saveAgent(mailbox, agent)
  return async () => agent.loadState(before)
}
