import { GloveboxError } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { describe } from "../../internal/describe.ts"
import type { ChatCompletionClient, CreateResult, LLMMessage } from "../../models/index.ts"

export interface AskModelOptions {
  readonly signal: AbortSignal
  /** Told each piece of the answer, which is then asked for in pieces. @default the answer comes whole */
  readonly onChunk?: ((text: string) => Promise<void>) | undefined
}

/** Asks a model; a client that does not look at its signal holds nobody up. */
export async function askModel(
  modelClient: ChatCompletionClient,
  messages: readonly LLMMessage[],
  { signal, onChunk }: AskModelOptions,
): Promise<CreateResult> {
  signal.throwIfAborted()
  if (!onChunk) return abortable(modelClient.create(messages, { signal }), signal)
  const stream = modelClient.createStream(messages, { signal })
  let isDone = false
  try {
    for (;;) {
      const { done = false, value } = await abortable(stream.next(), signal)
      isDone = done
      if (typeof value === "object" && "content" in value) return value
      if (typeof value !== "string" || done) throw noResult(value)
      await onChunk(value)
    }
  } finally {
    // Not waited for: it may hang in the very wait that was ended.
    if (!isDone) stream.return(undefined as never).catch(() => {})
  }
}

function noResult(value: unknown): GloveboxError {
  return new GloveboxError(
    "MODEL_RESPONSE_INVALID",
    `The model client's stream gave ${describe(value)} where a text or a result was expected.`,
  )
}
