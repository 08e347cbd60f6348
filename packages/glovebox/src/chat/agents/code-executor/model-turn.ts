import { randomUUID } from "node:crypto"
import { GloveboxError } from "../../../core/index.ts"
import type { CodeBlock, CodeExecutor } from "../../../executors/index.ts"
import { abortable } from "../../../internal/abortable.ts"
import { abortableStream } from "../../../internal/abortable-stream.ts"
import {
  type ChatCompletionClient,
  type CreateResult,
  type RequestUsage,
  type UserMessage,
  assistantMessage,
} from "../../../models/index.ts"
import {
  type ChatItem,
  type ChatMessage,
  ModelClientStreamingChunkEvent,
  ThoughtEvent,
} from "../../messages/index.ts"
import type { Response } from "../../task/index.ts"
import type { TurnStream } from "../chat-agent.ts"
import type { CodeOutcome, CodeTurn, WrittenCode } from "./code-turn.ts"
import type { Conversation } from "./conversation.ts"
import type { SupportedLanguages } from "./supported-languages.ts"

export interface ModelSetup {
  readonly name: string
  readonly executor: () => Promise<CodeExecutor>
  readonly languages: SupportedLanguages
  readonly client: ChatCompletionClient
  readonly streams: boolean
  readonly conversation: Conversation
  readonly systemMessage: string | undefined
  readonly maxRetries: number
  readonly reflects: boolean
}

interface Answer {
  readonly id: string
  readonly text: string
  readonly result: CreateResult
}

const REFLECT =
  "Answer now in words, from what the code printed; if it did not work, say so and why. Code in this answer is not run."
const CORRECT = "Correct the code, and write all of it again."
const CUT_OFF = "The answer was cut off before its end, so its code did not run. Write shorter code."
const INTERRUPTED = "The code was not run to its end, and what it printed is not known."

/** A turn with a model: it writes code, the code runs, it corrects what failed, and it says what came of it. */
export async function* modelTurn(
  turn: CodeTurn,
  setup: ModelSetup,
  messages: readonly ChatMessage[],
): TurnStream {
  const { conversation, maxRetries, reflects } = setup
  await conversation.take(messages)
  let last: CodeOutcome | undefined
  for (let attempt = 0; attempt <= maxRetries; attempt += 1) {
    const answer = yield* ask(turn, setup)
    await conversation.add(assistantMessage(answer.result, setup.name))
    const { blocks } = setup.languages.find([answer.text])
    if (blocks.length === 0) return yield* finish(setup, turn.reply(answer.text, usageOf(answer)))
    const isLast = attempt === maxRetries
    last = yield* runAnswer(turn, setup, { answer, blocks, attempt, isLast })
    if (last.kind === "denied") return yield* finish(setup, turn.report(last))
    if (last.kind === "succeeded") break
  }
  if (!reflects && last) return yield* finish(setup, turn.report(last))
  const answer = yield* ask(turn, setup, [toModel(setup, REFLECT)])
  await conversation.add(assistantMessage(answer.result, setup.name))
  return yield* finish(setup, turn.reply(answer.text, usageOf(answer)))
}

/** Runs the code of an answer; whatever comes of it, the model is told, so that no code stands without an end. */
async function* runAnswer(
  turn: CodeTurn,
  setup: ModelSetup,
  {
    answer,
    blocks,
    attempt,
    isLast,
  }: { answer: Answer; blocks: readonly CodeBlock[]; attempt: number; isLast: boolean },
): AsyncGenerator<ChatItem, CodeOutcome, undefined> {
  const { conversation } = setup
  let told = INTERRUPTED
  try {
    const written = {
      content: answer.text,
      codeBlocks: blocks,
      retryAttempt: attempt,
      messages: await conversation.messages(),
      ...usageOf(answer),
    }
    const isCutOff = answer.result.finishReason === "length"
    const outcome = isCutOff ? yield* cutOff(turn, written) : yield* turn.run(await setup.executor(), written)
    told = outcome.kind === "failed" && !isLast ? `${outcome.text}\n\n${CORRECT}` : outcome.text
    return outcome
  } finally {
    await conversation.add(toModel(setup, told))
  }
}

// What is missing may be what made it harmless.
async function* cutOff(
  turn: CodeTurn,
  written: WrittenCode,
): AsyncGenerator<ChatItem, CodeOutcome, undefined> {
  yield turn.generated(written)
  return { kind: "failed", text: CUT_OFF }
}

async function* ask(
  turn: CodeTurn,
  { client, streams, conversation, systemMessage, name }: ModelSetup,
  last: readonly UserMessage[] = [],
): AsyncGenerator<ChatItem, Answer, undefined> {
  const { signal } = turn
  const id = randomUUID()
  const messages = [
    ...(systemMessage === undefined ? [] : [{ type: "SystemMessage", content: systemMessage } as const]),
    ...(await conversation.messages()),
    ...last,
  ]
  signal.throwIfAborted()
  let result: CreateResult | undefined
  if (streams) {
    for await (const piece of abortableStream(client.createStream(messages, { signal }), { signal })) {
      if (typeof piece !== "string") result = piece
      else yield ModelClientStreamingChunkEvent({ source: name, content: piece, fullMessageId: id })
    }
  } else result = await abortable(client.create(messages, { signal }), signal)
  signal.throwIfAborted()
  const text = result?.content
  if (!result || typeof text !== "string") {
    throw new GloveboxError(
      "MODEL_RESPONSE_INVALID",
      `The model of ${name} was asked for text, and answered with ${result ? "calls of tools" : "nothing"}.`,
    )
  }
  if (result.thought !== undefined && result.thought !== "") {
    yield turn.keep(ThoughtEvent({ source: name, content: result.thought }))
  }
  return { id, text, result }
}

async function* finish({ conversation }: ModelSetup, reply: Response): TurnStream {
  conversation.finish()
  yield reply
  return reply
}

function usageOf({ id, result }: Answer): { readonly id: string; readonly modelsUsage: RequestUsage } {
  return { id, modelsUsage: result.usage }
}

function toModel({ name }: ModelSetup, content: string): UserMessage {
  return { type: "UserMessage", content, source: name }
}
