import { randomUUID } from "node:crypto"
import { GloveboxError } from "../../../core/index.ts"
import type { CodeExecutor } from "../../../executors/index.ts"
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
import { CODE_EXECUTION } from "../../messages/program-words.ts"
import type { Response } from "../../task/index.ts"
import type { TurnStream } from "../chat-agent.ts"
import type { CodeOutcome, CodeTurn } from "./code-turn.ts"
import type { Conversation } from "./conversation.ts"
import type { SupportedLanguages } from "./supported-languages.ts"
import type { SuspendedCode } from "./suspended-code.ts"

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

/**
 * A turn with a model: it writes code, the code runs, it corrects what failed, and it says what came of it. Code that
 * waited for its approval is gone on with first, and the model is not asked for it again.
 */
export async function* modelTurn(
  turn: CodeTurn,
  setup: ModelSetup,
  messages: readonly ChatMessage[],
): TurnStream {
  const { conversation, maxRetries, reflects } = setup
  await conversation.take(messages)
  let outcome: CodeOutcome
  for (let attempt = conversation.suspended?.retryAttempt ?? 0; ; attempt += 1) {
    const isLast = attempt >= maxRetries
    if (conversation.suspended) {
      outcome = yield* runWritten(turn, setup, { ...conversation.suspended, isLast })
    } else {
      const answer = yield* ask(turn, setup)
      await conversation.add(assistantMessage(answer.result, setup.name))
      const { blocks } = setup.languages.find([answer.text])
      if (blocks.length === 0) return yield* finish(setup, turn.reply(answer.text, usageOf(answer)))
      const code = { codeBlocks: [...blocks], retryAttempt: attempt }
      outcome = yield* runWritten(turn, setup, { ...code, isLast, answer })
    }
    if (outcome.kind === "denied") return yield* finish(setup, turn.report(outcome))
    if (outcome.kind === "succeeded" || isLast) break
  }
  if (!reflects) return yield* finish(setup, turn.report(outcome))
  const answer = yield* ask(turn, setup, [toModel(setup, REFLECT)])
  await conversation.add(assistantMessage(answer.result, setup.name))
  return yield* finish(setup, turn.reply(answer.text, usageOf(answer)))
}

interface ModelCode extends SuspendedCode {
  readonly isLast: boolean
  /** That it is in, when nobody was told of it yet. */
  readonly answer?: Answer | undefined
}

/** Runs code of the model; whatever comes of it, the model is told, so that no code stands without an end. */
async function* runWritten(
  turn: CodeTurn,
  setup: ModelSetup,
  { codeBlocks, retryAttempt, isLast, answer }: ModelCode,
): AsyncGenerator<ChatItem, CodeOutcome, undefined> {
  const { conversation } = setup
  let told: readonly UserMessage[] = [toModel(setup, INTERRUPTED)]
  let hasStarted = false
  let waits = false
  const onStart = (): void => {
    hasStarted = true
  }
  try {
    if (answer) {
      yield turn.generated({ ...usageOf(answer), content: answer.text, codeBlocks, retryAttempt })
    }
    const messages = await conversation.messages()
    const outcome =
      answer?.result.finishReason === "length"
        ? // What is missing may be what made it harmless.
          ({ kind: "failed", text: CUT_OFF } as const)
        : yield* turn.run(await setup.executor(), { codeBlocks, retryAttempt, messages, onStart })
    told = outcomeMessages(setup, outcome, isLast)
    return outcome
  } catch (error) {
    // What waited already, and was not even asked for to the end, waits on.
    waits = GloveboxError.is(error, "APPROVAL_PENDING") || (!answer && !hasStarted)
    throw error
  } finally {
    if (waits) conversation.suspend({ codeBlocks, retryAttempt })
    else await conversation.settle(told)
  }
}

// Each in a message of its own: what a program wrote is marked, and our words are not.
function outcomeMessages(setup: ModelSetup, outcome: CodeOutcome, isLast: boolean): readonly UserMessage[] {
  const { kind, text, note, isOutput = false } = outcome
  return [
    ...(note === undefined ? [] : [toModel(setup, note.trimEnd())]),
    isOutput ? { ...toModel(setup, text), untrusted: CODE_EXECUTION } : toModel(setup, text),
    ...(kind === "failed" && !isLast ? [toModel(setup, CORRECT)] : []),
  ]
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
