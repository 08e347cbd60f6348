import { describe } from "../internal/describe.ts"
import { errorMessage } from "../internal/error-message.ts"
import { GloveboxError } from "./glovebox-error.ts"
import { JSON_CONTENT_TYPE, jsonSerializer } from "./json-serializer.ts"
import {
  type AnyMessageType,
  type Message,
  checkMessage,
  checkMessageType,
  messageTypeOf,
} from "./message.ts"
import type { MessageSerializer, Payload } from "./message-serializer.ts"
import { UnknownPayload } from "./unknown-payload.ts"

/** Turns messages into bytes and back, by type name and content type. */
export class SerializationRegistry {
  readonly #serializers = new Map<string, MessageSerializer>()
  readonly #types = new Map<string, AnyMessageType>()

  /** Adds a message type with the JSON form; adding the same type again changes nothing. */
  addType(type: AnyMessageType): void {
    checkMessageType(type)
    const known = this.#types.get(type.typeName)
    if (known === type) return
    if (known) throw duplicate(`message type "${type.typeName}" is defined twice, by two defineMessage calls`)
    // A JSON form added by hand comes before the usual one.
    if (!this.has(type.typeName)) this.add(jsonSerializer(type))
    this.#types.set(type.typeName, type)
  }

  /** Adds a serializer, for a content type of its own (protobuf, say) or a type with a special JSON form. */
  add(serializer: MessageSerializer): void {
    const key = keyOf(serializer.typeName, serializer.contentType)
    if (this.#serializers.has(key)) {
      throw duplicate(`a ${serializer.contentType} serializer of "${serializer.typeName}" exists already`)
    }
    this.#serializers.set(key, serializer)
  }

  has(typeName: string, contentType: string = JSON_CONTENT_TYPE): boolean {
    return this.#serializers.has(keyOf(typeName, contentType))
  }

  serialize(message: Message, contentType: string = JSON_CONTENT_TYPE): Payload {
    checkMessage(message)
    // What we could not read goes out as it came in.
    if (UnknownPayload.is(message)) return payload(message.typeName, message.contentType, message.data)
    const type = messageTypeOf(message)
    const typeName = type?.typeName ?? ""
    const known = this.#types.get(typeName)
    if (known && known !== type) {
      throw failed(
        `Message ${typeName} is of another definition than the one added. Share one defineMessage("${typeName}")`,
      )
    }
    const serializer = this.#serializers.get(keyOf(typeName, contentType))
    if (!serializer) throw this.#unknown(typeName, contentType)
    try {
      const data = serializer.serialize(message)
      if (!(data instanceof Uint8Array))
        throw new TypeError(`the serializer gave ${describe(data)}, not bytes`)
      return payload(typeName, contentType, data)
    } catch (cause) {
      throw failed(`Message ${typeName} cannot be written as ${contentType}`, cause)
    }
  }

  /** Reads a message; one of an unknown type becomes an `UnknownPayload`. */
  deserialize(source: Payload): Message {
    checkPayload(source)
    const { typeName, contentType, data } = source
    const serializer = this.#serializers.get(keyOf(typeName, contentType))
    // A copy, because a transport may use its buffer again.
    if (!serializer) return UnknownPayload({ typeName, contentType, data: new Uint8Array(data) })
    try {
      const message = serializer.deserialize(data)
      checkMessage(message)
      return message
    } catch (cause) {
      throw failed(`${data.byteLength} bytes of ${contentType} are not a message ${typeName}`, cause)
    }
  }

  #unknown(typeName: string, contentType: string): GloveboxError {
    const known = [...this.#types.keys()].join(", ") || "none"
    return new GloveboxError(
      "SERIALIZER_UNKNOWN",
      `Nothing writes message ${typeName} as ${contentType}. Add the type first (runtime.addMessageType, or addType of the registry). Known: ${known}.`,
    )
  }
}

function checkPayload(source: unknown): asserts source is Payload {
  const { typeName, contentType, data } = (source ?? {}) as Partial<Payload>
  if (typeof typeName === "string" && typeof contentType === "string" && data instanceof Uint8Array) return
  throw failed(
    "A payload is a typeName, a contentType and bytes as data, " +
      `not ${describe(typeName)}, ${describe(contentType)} and ${describe(data)}`,
  )
}

function keyOf(typeName: string, contentType: string): string {
  return `${typeName}\n${contentType}`
}

function payload(typeName: string, contentType: string, data: Uint8Array): Payload {
  return { typeName, contentType, data }
}

function duplicate(what: string): GloveboxError {
  return new GloveboxError("SERIALIZER_ALREADY_REGISTERED", `The ${what}. Define and add it once.`)
}

function failed(what: string, cause?: unknown): GloveboxError {
  return new GloveboxError(
    "SERIALIZATION_FAILED",
    cause === undefined ? `${what}.` : `${what}: ${errorMessage(cause)}`,
    cause === undefined ? undefined : { cause },
  )
}
