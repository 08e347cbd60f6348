import type { Message } from "./message.ts"

/** A message as bytes, with what is needed to read it. */
export interface Payload {
  readonly typeName: string
  readonly contentType: string
  readonly data: Uint8Array
}

/** Writes and reads the messages of one type in one content type. */
export interface MessageSerializer {
  readonly typeName: string
  readonly contentType: string
  serialize(message: Message): Uint8Array
  deserialize(data: Uint8Array): Message
}
