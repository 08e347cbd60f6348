import protobuf from "protobufjs"
import { errorMessage } from "../../../internal/error-message.ts"
import { GloveboxError } from "../../../core/glovebox-error.ts"
import { AGENTS_SCHEMA, CLOUD_EVENT_SCHEMA, GOOGLE_SCHEMA } from "./schema.ts"
import type {
  AddSubscriptionRequest,
  ControlContents,
  ControlMessage,
  EmptyMessage,
  GetSubscriptionsResponse,
  RegisterAgentTypeRequest,
  RemoveSubscriptionRequest,
  WireAny,
  WireMessage,
} from "./wire-message.ts"

/** Writes and reads one message type; what cannot be written or read is a SERIALIZATION_FAILED. */
export interface Codec<Value> {
  encode(value: Value): Buffer
  decode(bytes: Uint8Array): Value
}

const root = new protobuf.Root()
for (const text of [GOOGLE_SCHEMA, CLOUD_EVENT_SCHEMA, AGENTS_SCHEMA]) {
  protobuf.parse(text, root, { keepCase: true })
}
root.resolveAll()
const EMPTY = Buffer.alloc(0)

function codec<Value extends object>(name: string): Codec<Value> {
  const type = root.lookupType(name)
  return {
    encode(value) {
      try {
        return asBuffer(type.encode(value).finish())
      } catch (cause) {
        throw failed(`A value cannot be written as ${name}`, cause)
      }
    },
    decode(bytes) {
      try {
        // The schema decides the shape of what is read, and wire-message.ts repeats it for the compiler.
        return type.decode(bytes) as protobuf.Message & Value
      } catch (cause) {
        throw failed(`${bytes.byteLength} bytes are no ${name}`, cause)
      }
    },
  }
}

// protobufjs has an array for bytes that were not sent, and a value where it must be told that none of several was.
for (const type of typesOf(root)) {
  for (const field of type.fieldsArray) {
    if (field.partOf && field.resolvedType === null) setDefault(type, field.name, undefined)
    else if (field.type === "bytes") setDefault(type, field.name, EMPTY)
  }
}

const message = codec<WireMessage>("agents.Message")

export function encodeMessage(value: WireMessage): Buffer {
  return message.encode(value)
}

export function decodeMessage(bytes: Uint8Array): WireMessage {
  return message.decode(bytes)
}

const any = codec<WireAny>("google.protobuf.Any")

export function encodeAny(value: WireAny): Buffer {
  return any.encode(value)
}

export function decodeAny(bytes: Uint8Array): WireAny {
  return any.decode(bytes)
}

/** The codecs of everything else that the service carries. */
export const CODECS = {
  controlMessage: codec<ControlMessage>("agents.ControlMessage"),
  registerAgentTypeRequest: codec<RegisterAgentTypeRequest>("agents.RegisterAgentTypeRequest"),
  registerAgentTypeResponse: codec<EmptyMessage>("agents.RegisterAgentTypeResponse"),
  addSubscriptionRequest: codec<AddSubscriptionRequest>("agents.AddSubscriptionRequest"),
  addSubscriptionResponse: codec<EmptyMessage>("agents.AddSubscriptionResponse"),
  removeSubscriptionRequest: codec<RemoveSubscriptionRequest>("agents.RemoveSubscriptionRequest"),
  removeSubscriptionResponse: codec<EmptyMessage>("agents.RemoveSubscriptionResponse"),
  getSubscriptionsRequest: codec<EmptyMessage>("agents.GetSubscriptionsRequest"),
  getSubscriptionsResponse: codec<GetSubscriptionsResponse>("agents.GetSubscriptionsResponse"),
} as const

type ControlName = keyof ControlContents

/** What an `Any` of the control channel holds. */
export type ControlContent = {
  readonly [Name in ControlName]: { readonly name: Name; readonly value: ControlContents[Name] }
}[ControlName]

const CONTROL_CODECS: { readonly [Name in ControlName]: Codec<ControlContents[Name]> } = {
  SaveStateRequest: codec("agents.SaveStateRequest"),
  SaveStateResponse: codec("agents.SaveStateResponse"),
  LoadStateRequest: codec("agents.LoadStateRequest"),
  LoadStateResponse: codec("agents.LoadStateResponse"),
  ControlCall: codec("agents.ControlCall"),
  ControlAnswer: codec("agents.ControlAnswer"),
}

export function packAny<Name extends ControlName>(name: Name, value: ControlContents[Name]): WireAny {
  return { type_url: `type.googleapis.com/agents.${name}`, value: CONTROL_CODECS[name].encode(value) }
}

/** What an `Any` holds; undefined when it is of a type that the control channel does not know. */
export function unpackAny(source: WireAny): ControlContent | undefined {
  // Any prefix will do, as with Google's own libraries: only what follows the last slash names the type.
  const name = source.type_url.slice(source.type_url.lastIndexOf("/") + 1)
  for (const known of Object.keys(CONTROL_CODECS) as ControlName[]) {
    if (name === `agents.${known}`) return contentOf(known, source.value)
  }
  return undefined
}

function contentOf(name: ControlName, bytes: Uint8Array): ControlContent {
  return { name, value: CONTROL_CODECS[name].decode(bytes) } as ControlContent
}

function* typesOf(namespace: protobuf.NamespaceBase): Generator<protobuf.Type, void> {
  for (const nested of namespace.nestedArray) {
    if (nested instanceof protobuf.Type) yield nested
    if (nested instanceof protobuf.Namespace) yield* typesOf(nested)
  }
}

function setDefault(type: protobuf.Type, name: string, value: Buffer | undefined): void {
  Object.defineProperty(type.ctor.prototype, name, { value, writable: true })
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function failed(what: string, cause: unknown): GloveboxError {
  return new GloveboxError("SERIALIZATION_FAILED", `${what}: ${errorMessage(cause)}`, { cause })
}
