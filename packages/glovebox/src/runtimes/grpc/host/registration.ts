import { checkAgentType, isKey } from "../../../core/agent-id.ts"
import { errorMessage } from "../../../internal/error-message.ts"
import { GloveboxError } from "../../../core/glovebox-error.ts"
import { fromWireSubscription } from "../wire/subscription-wire.ts"
import type { RegisterAgentTypeRequest, WireSubscription } from "../wire/wire-message.ts"
import { type CallRefusal, refuse } from "./call-refusal.ts"
import type { Switchboard } from "./switchboard.ts"
import type { WorkerSession } from "./worker-session.ts"

// Far above what a worker has, and far below what would fill the host's memory.
const MAX_TYPES = 1000
const MAX_SUBSCRIPTIONS = 10_000

/** Undefined when the worker has the type, or the agents of it that it named. */
export function register(
  board: Switchboard,
  session: WorkerSession,
  { type, keys = [] }: RegisterAgentTypeRequest,
): CallRefusal | undefined {
  try {
    checkAgentType(type)
  } catch (error) {
    return refuse("INVALID_ARGUMENT", errorMessage(error))
  }
  if (!session.grant.mayRegister(type)) {
    return refuse("PERMISSION_DENIED", `The token does not allow to register the agent type ${type}.`)
  }
  if (session.agentTypes.size >= MAX_TYPES)
    return refuse("RESOURCE_EXHAUSTED", "The worker has too many types.")
  const { placement } = board
  const owner = placement.ownerOf(type)
  const isTaken = owner && (owner.isPlain || session.isPlain)
  if (isTaken || (keys.length === 0 && placement.isBuilder(type, session))) {
    const clientId = (isTaken ? owner : session).clientId
    // AutoGen's own words.
    return refuse("INVALID_ARGUMENT", `Agent type ${type} already registered with client ${clientId}.`)
  }
  if (keys.length === 0) placement.addBuilder(type, session)
  else {
    const refusal = registerInstances(board, session, type, keys)
    if (refusal) return refusal
  }
  board.retryParked()
  return undefined
}

function registerInstances(
  { placement }: Switchboard,
  session: WorkerSession,
  type: string,
  keys: readonly string[],
): CallRefusal | undefined {
  if (!keys.every((key) => isKey(key))) return refuse("INVALID_ARGUMENT", "A key of the agents is not valid.")
  const added: string[] = []
  for (const key of keys) {
    const isNew = placement.placeOf(type, key) === undefined
    if (placement.addInstance(type, key, session)) {
      if (isNew) added.push(key)
      continue
    }
    for (const undone of added) placement.forget(type, undone, session)
    return refuse("ALREADY_EXISTS", `The agent ${type}/${key} lives at another worker.`)
  }
  return undefined
}

export function subscribe(
  { subscriptions }: Switchboard,
  session: WorkerSession,
  wire: WireSubscription | null | undefined,
): CallRefusal | undefined {
  if (!wire) return refuse("INVALID_ARGUMENT", "The call has no subscription.")
  if (session.subscriptionIds.size >= MAX_SUBSCRIPTIONS) {
    return refuse("RESOURCE_EXHAUSTED", "The worker has too many subscriptions.")
  }
  try {
    const subscription = fromWireSubscription(wire)
    if (!session.grant.mayAddSubscription(subscription)) {
      return refuse("PERMISSION_DENIED", "The token does not allow this subscription.")
    }
    subscriptions.add(session, subscription)
    return undefined
  } catch (error) {
    if (!GloveboxError.is(error)) throw error
    return refuse("INVALID_ARGUMENT", error.message)
  }
}
