import { describe } from "../internal/describe.ts"
import type { AgentId } from "./agent-id.ts"
import type { MaybeReply } from "./agent.ts"
import { BaseAgent } from "./base-agent.ts"
import { GloveboxError } from "./glovebox-error.ts"
import { type AnyMessageType, type Message, checkMessageType, messageTypeOf } from "./message.ts"
import type { MessageContext } from "./message-context.ts"
import { MessageUnhandledError } from "./message-unhandled-error.ts"

/** What the function of a closure agent may do as the agent. */
export type ClosureAgentHandle = { readonly id: AgentId } & Pick<BaseAgent, "send" | "publish">

export type Closure<Types extends readonly AnyMessageType[]> = (
  message: ReturnType<Types[number]["parse"]>,
  context: MessageContext,
  agent: ClosureAgentHandle,
) => MaybeReply | Promise<MaybeReply>

export interface ClosureAgentOptions {
  /** @default "An agent made of one function." */
  readonly description?: string | undefined
}

/**
 * An agent made of one function; the usual way to get results out of a runtime.
 *
 * @example
 * await runtime.register("collector", () => new ClosureAgent([Result], (result) => { results.push(result) }), {
 *   subscriptions: [defaultSubscription()],
 * })
 */
export class ClosureAgent<const Types extends readonly AnyMessageType[]> extends BaseAgent {
  readonly #types: Types
  readonly #closure: Closure<Types>

  constructor(types: Types, closure: Closure<Types>, options: ClosureAgentOptions = {}) {
    super(options.description ?? "An agent made of one function.")
    if (!Array.isArray(types)) throw invalid(`The message types are ${describe(types)}. Pass a list.`)
    for (const type of types) checkMessageType(type)
    if (typeof closure !== "function") throw invalid(`The function is ${describe(closure)}. Pass a function.`)
    this.#types = types
    this.#closure = closure
  }

  override get messageTypes(): readonly AnyMessageType[] {
    return this.#types
  }

  override onMessage(message: Message, context: MessageContext): MaybeReply | Promise<MaybeReply> {
    const type = messageTypeOf(message)
    if (type !== undefined && this.#types.includes(type)) {
      return this.#closure(message as ReturnType<Types[number]["parse"]>, context, this)
    }
    throw new MessageUnhandledError(this.id, message, context, this.#types)
  }
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("AGENT_INVALID", message)
}
