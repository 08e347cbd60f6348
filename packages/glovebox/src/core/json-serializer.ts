import type { AnyMessageType, Message } from "./message.ts"
import type { MessageSerializer } from "./message-serializer.ts"
import { checkJson } from "./json.ts"

export const JSON_CONTENT_TYPE = "application/json"

const UTF8 = new TextDecoder("utf-8", { fatal: true })

/** The JSON form of a message type: its fields, checked by its schema when read. */
export function jsonSerializer(type: AnyMessageType): MessageSerializer {
  return {
    typeName: type.typeName,
    contentType: JSON_CONTENT_TYPE,
    serialize: (message: Message) => {
      checkJson(message)
      return Buffer.from(JSON.stringify(message), "utf8")
    },
    deserialize: (data) => {
      const value = parseJson(UTF8.decode(data))
      // What is nested too deep to be written is not read either.
      checkJson(value)
      return type.parse(value)
    },
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // What was thrown quotes the text, and errors go to logs, where no payload may be.
    throw new SyntaxError("they are no JSON")
  }
}
