import { AsyncLocalStorage } from "node:async_hooks"
import type { AgentId } from "./agent-id.ts"
import type { AgentRuntime } from "./agent-runtime.ts"

/** The id and runtime of an agent. */
export interface AgentBinding {
  readonly id: AgentId
  readonly runtime: AgentRuntime
}

/** Code that runs in an agent's factory. */
export interface InstantiationScope extends AgentBinding {
  readonly scope: "instantiation"
}

/** Code that runs in an agent's handler. */
export interface HandlerScope {
  readonly scope: "handler"
  readonly agentId: AgentId
}

// One storage for both: on Node 20 each one slows down every promise of the process.
const storage = new AsyncLocalStorage<InstantiationScope | HandlerScope>()

/** The binding of the agent whose factory is running; undefined outside a factory. */
export function currentInstantiation(): AgentBinding | undefined {
  const current = storage.getStore()
  return current?.scope === "instantiation" ? current : undefined
}

/** The agent whose handler is running; undefined outside a handler. */
export function currentAgentId(): AgentId | undefined {
  return currentHandlerScope()?.agentId
}

export function currentHandlerScope(): HandlerScope | undefined {
  const current = storage.getStore()
  return current?.scope === "handler" ? current : undefined
}

export function runInstantiation<T>({ id, runtime }: AgentBinding, build: () => T): T {
  return storage.run({ scope: "instantiation", id, runtime }, build)
}

export function runInHandlerScope<A, B, T>(scope: HandlerScope, handle: (a: A, b: B) => T, a: A, b: B): T {
  return storage.run(scope, handle, a, b)
}
