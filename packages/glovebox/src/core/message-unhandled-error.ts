import { type AgentId, formatAgentId } from "./agent-id.ts"
import { GloveboxError } from "./glovebox-error.ts"
import { type AnyMessageType, type Message, messageTypeOf } from "./message.ts"
import type { MessageContext } from "./message-context.ts"
import { UnknownPayload } from "./unknown-payload.ts"

/** An agent has no handler for a message: an error to a sender, an event of the runtime when published. */
export class MessageUnhandledError extends GloveboxError {
  readonly agentId: AgentId

  constructor(
    agentId: AgentId,
    message: Message,
    context: MessageContext,
    handled: readonly AnyMessageType[],
  ) {
    // One that could not be read has its own name.
    const name = UnknownPayload.is(message)
      ? message.typeName
      : (messageTypeOf(message)?.typeName ?? "unknown")
    const known = handled.map((type) => type.typeName)
    const hint = known.includes(name)
      ? `It handles ${name}, but not this one: check the handler's match and kind, and that both sides share one defineMessage("${name}").`
      : `It handles: ${known.join(", ") || "nothing"}.`
    const how = context.isRpc ? "send" : "publication"
    super(
      "MESSAGE_UNHANDLED",
      `Agent ${formatAgentId(agentId)} does not handle this ${how} of ${name}. ${hint}`,
    )
    this.agentId = agentId
  }
}
