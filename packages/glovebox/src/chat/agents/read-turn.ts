import { GloveboxError } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { describe } from "../../internal/describe.ts"
import { type ChatItem, isChatItem, isChatMessage, isChunk } from "../messages/index.ts"
import { type Response, pendingOf } from "../task/index.ts"
import type { TurnStream } from "./chat-agent.ts"

/** A turn that came to its end. */
export interface ReadTurn {
  readonly response: Response
  /** What was told in it, without pieces; the message that was said is the last. */
  readonly items: readonly ChatItem[]
}

/**
 * Reads a turn up to its response, whoever wrote the agent: yields what is told, each thing once, and at the end the
 * message that was said.
 *
 * @throws AGENT_INVALID
 */
export async function* readTurn(
  name: string,
  stream: TurnStream,
): AsyncGenerator<ChatItem, ReadTurn, undefined> {
  checkStream(name, stream)
  const items: ChatItem[] = []
  let isDone = false
  try {
    for (;;) {
      const next = await stream.next()
      isDone = next.done === true
      const { told, turn } = readNext(name, next, items)
      yield* told
      if (turn) return turn
    }
  } finally {
    if (!isDone) await stream.return(undefined as never)
  }
}

/**
 * The same for whoever has a function for what is told: a generator in between costs as much as a short turn. The last
 * that is told is the answer.
 */
export async function hearTurn(
  name: string,
  stream: TurnStream,
  tell: (item: ChatItem, isAnswer: boolean) => Promise<void>,
): Promise<ReadTurn> {
  checkStream(name, stream)
  const items: ChatItem[] = []
  let isDone = false
  try {
    for (;;) {
      const next = await stream.next()
      isDone = next.done === true
      const { told, turn } = readNext(name, next, items)
      for (const item of told) await tell(item, item === turn?.response.chatMessage)
      if (turn) return turn
    }
  } finally {
    if (!isDone) await stream.return(undefined as never)
  }
}

/** What comes next of a turn, or the approvals that it waits for. */
export async function nextOrPending(
  turn: ReturnType<typeof readTurn>,
  signal: AbortSignal,
): Promise<IteratorResult<ChatItem, ReadTurn> | { readonly pending: readonly string[] }> {
  try {
    return await abortable(turn.next(), signal)
  } catch (error) {
    const pending = signal.aborted ? undefined : pendingOf(error)
    if (pending) return { pending }
    throw error
  }
}

function readNext(
  name: string,
  { done, value }: IteratorResult<unknown>,
  items: ChatItem[],
): { readonly told: readonly ChatItem[]; readonly turn?: ReadTurn } {
  // A response that is only returned counts too.
  if (isResponse(value) || done === true) {
    const last = checkResponse(name, value)
    const told = [...untold(name, last, items), last.chatMessage]
    items.push(last.chatMessage)
    return { told, turn: { response: last, items } }
  }
  if (!isChatItem(value)) {
    throw invalid(
      `Agent ${name} yielded ${describe(value)}, which is no message and no event. Make it with a type, such as TextMessage.`,
    )
  }
  if (!isChunk(value)) items.push(value)
  return { told: [value] }
}

function checkStream(name: string, stream: TurnStream): void {
  if (typeof (stream as Partial<TurnStream> | undefined)?.next === "function") return
  throw invalid(`The stream of agent ${name} is ${describe(stream)}. Write it as an async generator.`)
}

/** @throws AGENT_INVALID */
export function checkResponse(name: string, value: unknown): Response {
  const { chatMessage, innerMessages = [] } = isResponse(value) ? value : {}
  if (!isResponse(value) || !isChatMessage(chatMessage)) {
    throw invalid(`Agent ${name} ended its turn without a response. Yield one last: response(message).`)
  }
  return { ...value, chatMessage, innerMessages }
}

/** What a response tells of, and its stream did not. */
function* untold(name: string, { innerMessages }: Response, items: ChatItem[]): Generator<ChatItem> {
  const told = new Set(items.map(({ id }) => id))
  for (const item of innerMessages) {
    if (!isChatItem(item)) {
      throw invalid(`The innerMessages of agent ${name} have ${describe(item)}, which is no message.`)
    }
    if (isChunk(item) || told.has(item.id)) continue
    items.push(item)
    yield item
  }
}

function isResponse(value: unknown): value is { readonly type: "Response" } & Partial<Response> {
  return typeof value === "object" && value !== null && "type" in value && value.type === "Response"
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("AGENT_INVALID", message)
}
