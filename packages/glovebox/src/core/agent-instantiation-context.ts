import { AsyncLocalStorage } from "node:async_hooks"
import type { AgentId } from "./agent-id.ts"
import type { AgentRuntime } from "./agent-runtime.ts"

/** The id and runtime of the agent being built. */
export interface AgentBinding {
  readonly id: AgentId
  readonly runtime: AgentRuntime
}

const storage = new AsyncLocalStorage<AgentBinding>()

/** The binding of the agent whose factory is running; undefined outside a factory. */
export function currentInstantiation(): AgentBinding | undefined {
  return storage.getStore()
}

export function runInstantiation<T>(binding: AgentBinding, build: () => T): T {
  return storage.run(binding, build)
}
