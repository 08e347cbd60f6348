import { describe } from "../internal/describe.ts"
import type { MaybeReply } from "./agent.ts"
import { BaseAgent } from "./base-agent.ts"
import {
  type AnyMessageType,
  type Message,
  type MessageType,
  checkMessageType,
  messageTypeOf,
} from "./message.ts"
import { GloveboxError } from "./glovebox-error.ts"
import type { MessageContext } from "./message-context.ts"
import { MessageUnhandledError } from "./message-unhandled-error.ts"

export type MessageHandler<Fields extends object, Name extends string = string> = (
  message: Message<Fields, Name>,
  context: MessageContext,
) => MaybeReply | Promise<MaybeReply>

export interface HandlerOptions<Fields extends object, Name extends string = string> {
  /** Only messages for which this is true; handlers are tried in the order they were added. */
  readonly match?: ((message: Message<Fields, Name>, context: MessageContext) => boolean) | undefined
  /** `event`: only what is published; `rpc`: only what is sent. @default both */
  readonly kind?: "event" | "rpc" | undefined
}

interface Route {
  readonly type: AnyMessageType
  readonly handler: MessageHandler<object>
  readonly match: HandlerOptions<object>["match"]
  readonly kind: HandlerOptions<object>["kind"]
  next: Route | undefined
}

/** An agent that handles messages by their type: call `this.on(...)` in the constructor. */
export abstract class RoutedAgent extends BaseAgent {
  // A short chain beats a map or an array, in memory and in time: agents handle a few types, and are many.
  #firstRoute: Route | undefined
  #lastRoute: Route | undefined

  override get messageTypes(): readonly AnyMessageType[] {
    const types = new Set<AnyMessageType>()
    for (let route = this.#firstRoute; route; route = route.next) types.add(route.type)
    return [...types]
  }

  /** Handles messages of this type; what the handler returns is the reply to a send. */
  protected on<Fields extends object, Name extends string>(
    type: MessageType<Fields, never, Name>,
    handler: MessageHandler<Fields, Name>,
    options: HandlerOptions<Fields, Name> = {},
  ): void {
    checkRoute(type, handler, options)
    const route: Route = {
      type,
      handler: handler as MessageHandler<object>,
      match: options.match as HandlerOptions<object>["match"],
      kind: options.kind,
      next: undefined,
    }
    if (this.#lastRoute) this.#lastRoute.next = route
    else this.#firstRoute = route
    this.#lastRoute = route
  }

  override onMessage(message: Message, context: MessageContext): MaybeReply | Promise<MaybeReply> {
    const type = messageTypeOf(message)
    for (let route = this.#firstRoute; route; route = route.next) {
      if (route.type !== type) continue
      if (route.kind !== undefined && (route.kind === "rpc") !== context.isRpc) continue
      if (route.match !== undefined && !route.match.call(this, message, context)) continue
      return route.handler.call(this, message, context)
    }
    return this.onUnhandledMessage(message, context)
  }

  /** Called when no handler takes the message; by default a sender gets `MESSAGE_UNHANDLED`. */
  protected onUnhandledMessage(message: Message, context: MessageContext): MaybeReply | Promise<MaybeReply> {
    throw new MessageUnhandledError(this.id, message, context, this.messageTypes)
  }
}

function checkRoute(type: unknown, handler: unknown, { match, kind }: HandlerOptions<never>): void {
  checkMessageType(type)
  const name = type.typeName
  if (typeof handler !== "function")
    throw invalid(`The handler of ${name} is ${describe(handler)}. Pass a function.`)
  if (match !== undefined && typeof match !== "function") {
    throw invalid(`The match of ${name} is ${describe(match)}. Pass a function.`)
  }
  if (kind !== undefined && kind !== "event" && kind !== "rpc") {
    throw invalid(`The kind of ${name} is ${describe(kind)}. Use "event" or "rpc", or leave it out.`)
  }
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("AGENT_INVALID", message)
}
