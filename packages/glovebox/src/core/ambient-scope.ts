import { AsyncLocalStorage } from "node:async_hooks"
import type { AccessScope } from "./access-guard.ts"
import type { AgentId } from "./agent-id.ts"
import type { AgentRuntime } from "./agent-runtime.ts"

/** The id and runtime of an agent. */
export interface AgentBinding {
  readonly id: AgentId
  readonly runtime: AgentRuntime
}

/** Code that runs in an agent's factory. */
interface InstantiationScope {
  readonly scope: "instantiation"
  /** Kept by the agent for its life, unlike what else is here. */
  readonly binding: AgentBinding
  /** The message that made the runtime build the agent; undefined when something else did. */
  readonly cause: HandlerScope | undefined
  /** The saving or loading that made the runtime build the agent. */
  readonly state: StateScope | undefined
  readonly access: AccessScope | undefined
}

/** Code that runs in an agent's handler. */
export interface HandlerScope {
  readonly scope: "handler"
  readonly agentId: AgentId
  readonly access: AccessScope | undefined
}

/** Code that saves or loads the state of all agents, while no message is delivered. */
export interface StateScope {
  readonly scope: "state"
  /** Set at the end, because what was begun inside may go on. */
  isOver: boolean
}

// One storage for all: on Node 20 each one slows down every promise of the process.
const storage = new AsyncLocalStorage<InstantiationScope | HandlerScope | StateScope>()

/** The binding of the agent whose factory is running; undefined outside a factory. */
export function currentInstantiation(): AgentBinding | undefined {
  const current = storage.getStore()
  return current?.scope === "instantiation" ? current.binding : undefined
}

/** The agent whose handler is running; undefined outside a handler. */
export function currentAgentId(): AgentId | undefined {
  const current = storage.getStore()
  return current?.scope === "handler" ? current.agentId : undefined
}

/** The message on whose behalf the current code runs, in a handler or in the factory it called for. */
export function currentCause(): HandlerScope | undefined {
  const current = storage.getStore()
  if (current?.scope === "instantiation") return current.cause
  return current?.scope === "handler" ? current : undefined
}

/** By what the current code is bound, in a handler or a factory; undefined where no runtime has a guard. */
export function currentAccess(): AccessScope | undefined {
  const current = storage.getStore()
  return current?.scope === "state" ? undefined : current?.access
}

// Most processes have no guard, and then no message pays for one.
let hasGuards = false

/** From now on messages remember what bound their sender. */
export function rememberAccess(): void {
  hasGuards = true
}

/** What a message takes along from whoever sends it. */
export function inheritedAccess(): AccessScope | undefined {
  return hasGuards ? currentAccess() : undefined
}

/** True in code that must not wait for a message, because none is delivered until it ends. */
export function isSavingState(): boolean {
  const state = currentState()
  return state !== undefined && !state.isOver
}

function currentState(): StateScope | undefined {
  const current = storage.getStore()
  if (current?.scope === "instantiation") return current.state
  return current?.scope === "state" ? current : undefined
}

export function runInStateScope<T>(scope: StateScope, work: () => T): T {
  return storage.run(scope, work)
}

export function runInstantiation<T>(
  binding: AgentBinding,
  cause: HandlerScope | undefined,
  access: AccessScope | undefined,
  build: () => T,
): T {
  return storage.run({ scope: "instantiation", binding, cause, state: currentState(), access }, build)
}

export function runInHandlerScope<A, B, T>(scope: HandlerScope, handle: (a: A, b: B) => T, a: A, b: B): T {
  return storage.run(scope, handle, a, b)
}
