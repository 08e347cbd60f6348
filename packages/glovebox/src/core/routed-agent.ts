import type { MaybeReply } from "./agent.ts"
import { BaseAgent } from "./base-agent.ts"
import { type AnyMessageType, type Message, type MessageType, messageTypeOf } from "./message.ts"
import type { MessageContext } from "./message-context.ts"
import { MessageUnhandledError } from "./message-unhandled-error.ts"

export type MessageHandler<Fields extends object> = (
  message: Message<Fields>,
  context: MessageContext,
) => MaybeReply | Promise<MaybeReply>

export interface HandlerOptions<Fields extends object> {
  /** Only messages for which this is true; handlers are tried in the order they were added. */
  readonly match?: ((message: Message<Fields>, context: MessageContext) => boolean) | undefined
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
  protected on<Fields extends object>(
    type: MessageType<Fields, never>,
    handler: MessageHandler<Fields>,
    options: HandlerOptions<Fields> = {},
  ): void {
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
      if (route.match !== undefined && !route.match(message, context)) continue
      return route.handler(message, context)
    }
    return this.onUnhandledMessage(message, context)
  }

  /** Called when no handler takes the message; by default a sender gets `MESSAGE_UNHANDLED`. */
  protected onUnhandledMessage(message: Message, context: MessageContext): MaybeReply | Promise<MaybeReply> {
    throw new MessageUnhandledError(this.id, message, context, this.messageTypes)
  }
}
