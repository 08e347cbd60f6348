import type { StandardSchemaV1 } from "@standard-schema/spec"
import { describe } from "../internal/describe.ts"
import { formatIssues } from "../internal/format-issues.ts"
import { isPlainObject } from "../internal/plain-object.ts"
import { schemaProblem, validateSync } from "../internal/validate-sync.ts"
import { GloveboxError } from "./glovebox-error.ts"

// Registered, so that two copies of the package in one process know each other's messages.
const TYPE: unique symbol = Symbol.for("glovebox.messageType") as never

/** A message: the plain fields of its schema, read-only, that know the type they were made by. */
export type Message<Fields extends object = object, Name extends string = string> = Readonly<Fields> & {
  readonly [TYPE]: AnyMessageType & { readonly typeName: Name }
}

/** Makes, checks and recognises messages of one name; the name is what travels on the wire. */
export interface MessageType<Fields extends object = object, Input = never, Name extends string = string> {
  /** Makes a message; the schema checks it, applies defaults and transforms. */
  (fields: Input): Message<Fields, Name>
  readonly typeName: Name
  readonly schema: StandardSchemaV1<unknown, Fields>
  /** Makes a message from a value of unknown shape. */
  parse(value: unknown): Message<Fields, Name>
  is(value: unknown): value is Message<Fields, Name>
}

/** Any message type, where the fields do not matter. */
export interface AnyMessageType {
  readonly typeName: string
  parse(value: unknown): Message
  is(value: unknown): boolean
}

const MESSAGE_NAME = /^[\p{L}\p{N}_\-.]+$/u

/**
 * Defines a message type by its wire name and a schema (zod, or any Standard Schema that checks synchronously).
 *
 * @example
 * const Ping = defineMessage("Ping", z.object({ content: z.string() }))
 * await runtime.send(Ping({ content: "hi" }), agentId("echo"))
 */
export function defineMessage<const Name extends string, Schema extends StandardSchemaV1<unknown, object>>(
  name: Name,
  schema: Schema,
): MessageType<StandardSchemaV1.InferOutput<Schema>, StandardSchemaV1.InferInput<Schema>, Name>
export function defineMessage(
  name: string,
  schema: StandardSchemaV1<unknown, object>,
): MessageType<object, unknown> {
  if (typeof name !== "string" || !MESSAGE_NAME.test(name)) {
    throw invalid(`Message name ${describe(name)} is not valid. Use letters, digits, "_", "-" or ".".`)
  }
  const problem = schemaProblem(schema)
  if (problem !== undefined) throw invalid(`The schema of message ${name} is not valid: ${problem}`)
  const parse = (value: unknown): Message => new MessageClass(check(name, schema, value)) as Message
  const type: MessageType<object, unknown> = Object.assign((fields: unknown) => parse(fields), {
    typeName: name,
    schema,
    parse,
    is: (value: unknown): value is Message => messageTypeOf(value) === type,
  })
  Object.defineProperty(type, "name", { value: name })
  const MessageClass = messageClass(name, type)
  return type
}

/** The type a value was made by, or undefined when it is not a message. */
export function messageTypeOf(value: unknown): AnyMessageType | undefined {
  if (typeof value !== "object" || value === null) return undefined
  try {
    return (value as Partial<Message>)[TYPE]
  } catch {
    // A proxy that cannot be asked is no message.
    return undefined
  }
}

export function isMessage(value: unknown): value is Message {
  return messageTypeOf(value) !== undefined
}

/** Checks a value that claims to be a message, at the border. */
export function checkMessage(value: unknown): asserts value is Message {
  if (isMessage(value)) return
  throw invalid(`${describe(value)} is not a message. Make it with a type from defineMessage(name, schema).`)
}

/** Checks a value that claims to be a message type, at the border. */
export function checkMessageType(type: unknown): asserts type is AnyMessageType {
  const { typeName, parse, is } = (type ?? {}) as Partial<AnyMessageType>
  if (typeof typeName === "string" && typeof parse === "function" && typeof is === "function") return
  throw invalid(`${describe(type)} is not a message type. Make it with defineMessage(name, schema).`)
}

// One class a type: its instances share a hidden shape, print their name, and carry the type on the prototype.
function messageClass(name: string, type: AnyMessageType): new (fields: object) => object {
  const MessageClass = class {
    constructor(fields: object) {
      Object.assign(this, fields)
      Object.freeze(this)
    }
  }
  Object.defineProperty(MessageClass, "name", { value: name })
  Object.defineProperty(MessageClass.prototype, TYPE, { value: type })
  return MessageClass
}

function check(name: string, schema: StandardSchemaV1<unknown, object>, value: unknown): object {
  const result = validateSync(schema, value)
  if (result.issues) throw invalid(`Not a valid ${name}: ${formatIssues(result.issues)}`)
  const fields: unknown = result.value
  // Only plain fields can be copied whole: a Map or an instance of a class keeps what it holds elsewhere.
  if (typeof fields !== "object" || fields === null || !(isPlainObject(fields) || isMessage(fields))) {
    throw invalid(`The schema of message ${name} gives ${describe(fields)}. Use an object schema.`)
  }
  // Copied like other fields, it would become the message's prototype.
  if (Object.hasOwn(fields, "__proto__")) throw invalid(`Not a valid ${name}: "__proto__" cannot be a field.`)
  // Whoever awaits such a message would call it.
  if ("then" in fields && typeof fields.then === "function") {
    throw invalid(`Not a valid ${name}: a field "then" cannot be a function.`)
  }
  return fields
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("MESSAGE_INVALID", message)
}
