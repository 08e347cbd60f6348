import type { AgentId } from "../agent-id.ts"
import type { AgentRuntime } from "../agent-runtime.ts"
import type { InterventionChain } from "../intervention-chain.ts"
import type { SubscriptionTable } from "../subscription-table.ts"
import type { RuntimeTracing } from "../telemetry/runtime-tracing.ts"
import type { AgentDirectory } from "./agent-directory.ts"
import type { DeliveryLog } from "./delivery-log.ts"
import type { Dispatcher } from "./dispatcher.ts"
import type { Lifecycle } from "./lifecycle.ts"

/** What a runtime is made of, for the one that it is a part of. */
export interface RuntimeParts {
  readonly directory: AgentDirectory
  readonly dispatcher: Dispatcher
  readonly lifecycle: Lifecycle
  readonly log: DeliveryLog
  readonly subscriptions: SubscriptionTable
  readonly interventions: InterventionChain
  readonly tracing: RuntimeTracing
}

/** A runtime over several processes, that has its own agents in an in-process one. */
export interface Embedding {
  /** Whose agents they are: what they send goes there. */
  readonly runtime: AgentRuntime
  readonly onMade: (parts: RuntimeParts) => void
  /** Asked before a handler begins. */
  readonly mayBegin: () => boolean
  /** An agent was taken out, or could not be built. */
  readonly onGone: (id: AgentId) => void
}

// Kept beside the options, so that no caller of the package can give one.
const embeddings = new WeakMap<object, Embedding>()

/** Options for a runtime that is a part of another one. */
export function embedded<Options extends object>(options: Options, embedding: Embedding): Options {
  const own = { ...options }
  embeddings.set(own, embedding)
  return own
}

export function embeddingOf(options: object): Embedding | undefined {
  return embeddings.get(options)
}
