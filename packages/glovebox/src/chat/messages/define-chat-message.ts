import { randomUUID } from "node:crypto"
import { z } from "zod"
import {
  type AnyMessageType,
  type Message,
  type MessageType,
  defineMessage,
  messageTypeOf,
} from "../../core/index.ts"
import type { UserMessage } from "../../models/index.ts"

const usageSchema = z.object({ promptTokens: z.number(), completionTokens: z.number() }).readonly()

/** What every message and event has. */
const baseShape = {
  /** @default a random UUID */
  id: z.string().default(() => randomUUID()),
  /** The name of whoever says it. */
  source: z.string(),
  /** What the model calls behind it used. */
  modelsUsage: usageSchema.optional(),
  metadata: z.record(z.string(), z.string()).readonly().default({}),
  /** ISO 8601, in UTC. @default now */
  createdAt: z.iso.datetime().default(() => new Date().toISOString()),
}

type BaseShape = typeof baseShape

/** Whether agents say it to each other, it tells what happens, or it is a piece of something that is told whole later. */
type ChatMessageKind = "message" | "event" | "chunk"

interface Reading<Fields> {
  /** What a person reads, and conditions look at. */
  readonly toText: (message: Fields) => string
  /** What another agent's model reads. @default toText */
  readonly toModelText?: ((message: Fields) => string) | undefined
  /** The same with its images. @default the text */
  readonly toModelContent?: ((message: Fields) => UserMessage["content"]) | undefined
}

type Schema<Name extends string, Shape extends z.ZodRawShape> = z.ZodObject<
  { type: z.ZodDefault<z.ZodLiteral<Name>> } & BaseShape & Shape
>

/** A type of message or event of the chat: it makes them, recognises them, and reads them. */
export interface ChatMessageType<
  Fields extends object = object,
  Input = never,
  Name extends string = string,
> extends MessageType<Fields, Input, Name> {
  readonly kind: ChatMessageKind
  toText(message: Message): string
  toModelText(message: Message): string
  toModelContent(message: Message): UserMessage["content"]
}

/** Any chat message type, where the fields do not matter. */
export type AnyChatMessageType = Pick<
  ChatMessageType,
  "kind" | "typeName" | "parse" | "toText" | "toModelText" | "toModelContent"
> & { is(value: unknown): boolean }

/**
 * Defines a type of message that agents can say to each other, by its wire name, its fields and how it reads.
 *
 * @example
 * const Order = defineChatMessage("Order", { item: z.string() }, { toText: ({ item }) => `Please bring ${item}.` })
 * await team.run(Order({ source: "user", item: "tea" }))
 */
export function defineChatMessage<const Name extends string, Shape extends z.ZodRawShape>(
  name: Name,
  shape: Shape,
  reading: Reading<z.output<Schema<Name, Shape>>>,
): ChatMessageType<z.output<Schema<Name, Shape>>, z.input<Schema<Name, Shape>>, Name> {
  return define("message", name, shape, reading)
}

/** Defines a type of event: it is shown and kept, and not told to other agents. */
export function defineAgentEvent<const Name extends string, Shape extends z.ZodRawShape>(
  name: Name,
  shape: Shape,
  reading: Reading<z.output<Schema<Name, Shape>>>,
  kind: "event" | "chunk" = "event",
): ChatMessageType<z.output<Schema<Name, Shape>>, z.input<Schema<Name, Shape>>, Name> {
  return define(kind, name, shape, reading)
}

function define<const Name extends string, Shape extends z.ZodRawShape>(
  kind: ChatMessageKind,
  name: Name,
  shape: Shape,
  { toText, toModelText = toText, toModelContent = toModelText }: Reading<z.output<Schema<Name, Shape>>>,
): ChatMessageType<z.output<Schema<Name, Shape>>, z.input<Schema<Name, Shape>>, Name> {
  const schema = z.object({ type: z.literal(name).default(name as never), ...baseShape, ...shape })
  const type = defineMessage(name, schema as unknown as Schema<Name, Shape>)
  return Object.assign(type, { kind, toText, toModelText, toModelContent }) as never
}

/** The chat message type that a value was made by, or undefined. */
export function chatTypeOf(value: unknown): AnyChatMessageType | undefined {
  const type = messageTypeOf(value)
  return type !== undefined && isChatMessageType(type) ? type : undefined
}

function isChatMessageType(type: AnyMessageType): type is AnyMessageType & AnyChatMessageType {
  return "kind" in type && "toText" in type
}
