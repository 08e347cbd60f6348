import { AsyncLocalStorage } from "node:async_hooks"
import type { AgentId } from "./agent-id.ts"

/** What a runtime remembers of the message that the current code is handling. */
export interface HandlerScope {
  readonly agentId: AgentId
}

const storage = new AsyncLocalStorage<HandlerScope>()

/** The agent whose handler is running; undefined outside a handler. */
export function currentAgentId(): AgentId | undefined {
  return storage.getStore()?.agentId
}

export function currentHandlerScope(): HandlerScope | undefined {
  return storage.getStore()
}

export function runInHandlerScope<A, B, T>(scope: HandlerScope, handle: (a: A, b: B) => T, a: A, b: B): T {
  return storage.run(scope, handle, a, b)
}
