import type { Message } from "../../../core/message.ts"
import { messageTypeOf } from "../../../core/message.ts"
import type { Payload } from "../../../core/message-serializer.ts"
import type { SerializationRegistry } from "../../../core/serialization.ts"
import { UnknownPayload } from "../../../core/unknown-payload.ts"
import type { WirePayload } from "../wire/wire-message.ts"

/** In the metadata of a request: the id that its sender gave it, because hosts give requests ids of their own. */
export const MESSAGE_ID_METADATA = "glovebox-message-id"

/** Writes a message; its type is added on the way, because who has a message has its type. */
export function writeMessage(
  serialization: SerializationRegistry,
  message: Message,
  contentType?: string,
): Payload {
  const type = messageTypeOf(message)
  if (type && !UnknownPayload.is(message) && !serialization.has(type.typeName)) serialization.addType(type)
  return serialization.serialize(message, contentType)
}

export function toWirePayload({ typeName, contentType, data }: Payload): WirePayload {
  return { data_type: typeName, data_content_type: contentType, data }
}

export function fromWirePayload(payload: WirePayload): Payload {
  return { typeName: payload.data_type, contentType: payload.data_content_type, data: payload.data }
}
