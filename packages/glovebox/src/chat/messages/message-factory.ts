import { GloveboxError } from "../../core/index.ts"
import { describe } from "../../internal/describe.ts"
import { nearest } from "../../internal/nearest.ts"
import * as events from "./agent-events.ts"
import { type ChatItem, isChatItem } from "./chat-message.ts"
import * as messages from "./chat-messages.ts"
import type { AnyChatMessageType } from "./define-chat-message.ts"

const BUILT_IN: readonly AnyChatMessageType[] = [...Object.values(messages), ...Object.values(events)]

/** Makes messages from data by their type's name; only of types it was told of. */
export class MessageFactory {
  readonly #types: Map<string, AnyChatMessageType>

  constructor(customTypes: readonly AnyChatMessageType[] = []) {
    this.#types = new Map(BUILT_IN.map((type) => [type.typeName, type]))
    for (const type of customTypes) this.add(type)
  }

  add(type: AnyChatMessageType): this {
    const name: unknown = type.typeName
    if (typeof name !== "string" || typeof type.toText !== "function") {
      throw new GloveboxError(
        "MESSAGE_INVALID",
        `${describe(type)} is no type of chat messages. Make it with defineChatMessage.`,
      )
    }
    if (this.#types.has(name) && this.#types.get(name) !== type) {
      throw new GloveboxError("MESSAGE_INVALID", `There is a message type ${name} already. Use another name.`)
    }
    this.#types.set(name, type)
    return this
  }

  has(typeName: string): boolean {
    return this.#types.has(typeName)
  }

  /** Makes the message that the data is; one that is a message already stays what it is. */
  create(data: unknown): ChatItem {
    if (isChatItem(data)) return data
    const name: unknown = typeof data === "object" && data !== null && "type" in data ? data.type : undefined
    const type = typeof name === "string" ? this.#types.get(name) : undefined
    const made = type?.parse(data)
    if (isChatItem(made)) return made
    const meant = typeof name === "string" ? nearest(name, [...this.#types.keys()]) : undefined
    throw new GloveboxError(
      "MESSAGE_INVALID",
      `${describe(name)} is no type of chat messages that is known here.${meant === undefined ? "" : ` Did you mean ${meant}?`} ` +
        "Pass types of your own as customMessageTypes.",
    )
  }
}
