import { describe } from "../internal/describe.ts"
import { GloveboxError } from "./glovebox-error.ts"
import type {
  InterventionDecision,
  InterventionHandler,
  PublishIntervention,
  ResponseIntervention,
  SendIntervention,
} from "./intervention.ts"
import { type Message, isMessage } from "./message.ts"
import type { Reply } from "./agent.ts"

/** What the whole chain made of a message. */
export type ChainOutcome<M> =
  | { readonly action: "deliver"; readonly message: M }
  | { readonly action: "drop"; readonly reason: string | undefined }

type Hook<M, C> = (value: M, context: C) => InterventionDecision<M> | Promise<InterventionDecision<M>>

/** Runs interventions in order, each on what the one before it left. */
export class InterventionChain {
  readonly #send: Hook<Message, SendIntervention>[] = []
  readonly #publish: Hook<Message, PublishIntervention>[] = []
  readonly #response: Hook<Reply, ResponseIntervention>[] = []

  constructor(handlers: readonly InterventionHandler[]) {
    if (!Array.isArray(handlers)) throw invalidHandler(handlers)
    for (const handler of handlers as readonly InterventionHandler[]) {
      checkHandler(handler)
      if (handler.onSend) this.#send.push(handler.onSend.bind(handler))
      if (handler.onPublish) this.#publish.push(handler.onPublish.bind(handler))
      if (handler.onResponse) this.#response.push(handler.onResponse.bind(handler))
    }
  }

  get seesSends(): boolean {
    return this.#send.length > 0
  }

  get seesPublishes(): boolean {
    return this.#publish.length > 0
  }

  get seesResponses(): boolean {
    return this.#response.length > 0
  }

  /** @throws what a hook threw, or `MESSAGE_REJECTED` */
  send(message: Message, context: SendIntervention): Promise<ChainOutcome<Message>> {
    return runHooks(this.#send, message, context, isMessage)
  }

  publish(message: Message, context: PublishIntervention): Promise<ChainOutcome<Message>> {
    return runHooks(this.#publish, message, context, isMessage)
  }

  response(reply: Reply, context: ResponseIntervention): Promise<ChainOutcome<Reply>> {
    return runHooks(this.#response, reply, context, isReply)
  }
}

async function runHooks<M, C>(
  hooks: readonly Hook<M, C>[],
  original: M,
  context: C,
  accepts: (value: unknown) => boolean,
): Promise<ChainOutcome<M>> {
  let message = original
  for (const hook of hooks) {
    const decision = await hook(message, context)
    switch (decision?.action) {
      case "allow":
        break
      case "replace": {
        // Read once: what was checked is what is used.
        const { message: replacement } = decision
        if (!("message" in decision) || !accepts(replacement)) throw invalidDecision(decision)
        message = replacement
        break
      }
      case "drop":
        return { action: "drop", reason: decision.reason }
      case "reject":
        throw rejection(decision)
      default:
        // Silence is not consent: a hook that forgets to answer must not let anything through.
        throw invalidDecision(decision)
    }
  }
  return { action: "deliver", message }
}

function checkHandler(handler: unknown): asserts handler is InterventionHandler {
  if (typeof handler !== "object" || handler === null) throw invalidHandler(handler)
  for (const hook of ["onSend", "onPublish", "onResponse"] as const) {
    const value = (handler as InterventionHandler)[hook]
    if (value !== undefined && typeof value !== "function") throw invalidHandler(handler)
  }
}

function invalidHandler(handler: unknown): GloveboxError {
  return new GloveboxError(
    "OPTION_INVALID",
    `${describe(handler)} is not an intervention. Pass a list of objects with onSend, onPublish or onResponse.`,
  )
}

function isReply(value: unknown): value is Reply {
  return value === undefined || isMessage(value)
}

function rejection(decision: { reason: string; error?: unknown }): GloveboxError {
  const options = decision.error === undefined ? undefined : { cause: decision.error }
  return new GloveboxError(
    "MESSAGE_REJECTED",
    `An intervention refused the message: ${describeReason(decision.reason)}`,
    options,
  )
}

// Hooks are written by users, in JavaScript too: a reason may be anything.
function describeReason(reason: unknown): string {
  return typeof reason === "string" ? reason : describe(reason)
}

function invalidDecision(decision: unknown): GloveboxError {
  return new GloveboxError(
    "INTERVENTION_INVALID",
    `An intervention answered ${describe(decision)}. Return { action: "allow" | "replace" | "drop" | "reject", ... }.`,
  )
}
