import { GloveboxError } from "../../core/index.ts"
import { type ChatItem, type ChatMessage, isChatItem, isChatMessage } from "./chat-message.ts"
import { type AnyChatMessageType, chatTypeOf } from "./define-chat-message.ts"
import { MessageFactory } from "./message-factory.ts"

/**
 * Messages on their way through a runtime, which may be a wire. In one process they stay the objects they are; from a
 * wire they are made again, by types that are built in, that were named, or that left here before.
 */
export class WireItems {
  readonly #factory: MessageFactory

  constructor(customTypes: readonly AnyChatMessageType[] = []) {
    this.#factory = new MessageFactory(customTypes)
  }

  /** Remembers the types of what leaves, because it may come back. */
  leave<Items extends readonly ChatItem[]>(items: Items): Items {
    for (const item of items) {
      const type = chatTypeOf(item)
      if (type && !this.#factory.has(type.typeName)) this.#factory.add(type)
    }
    return items
  }

  item(value: unknown): ChatItem {
    return this.#factory.create(value)
  }

  items(values: readonly unknown[]): readonly ChatItem[] {
    return areAll(values, isChatItem) ? values : values.map((value) => this.item(value))
  }

  messages(values: readonly unknown[]): readonly ChatMessage[] {
    return areAll(values, isChatMessage) ? values : values.map((value) => this.message(value))
  }

  message(value: unknown): ChatMessage {
    const item = this.item(value)
    if (isChatMessage(item)) return item
    throw new GloveboxError(
      "MESSAGE_INVALID",
      `A ${item.type} tells what happens, and is not said to others.`,
    )
  }
}

function areAll<Item>(
  values: readonly unknown[],
  isOne: (value: unknown) => value is Item,
): values is readonly Item[] {
  return values.every(isOne)
}
