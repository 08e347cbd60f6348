import { type Attributes, SpanKind } from "@opentelemetry/api"
import type { CreateResult } from "../../models/create-result.ts"
import type { LLMMessage } from "../../models/messages.ts"
import { finishReason } from "./finish-reason.ts"
import { inputMessages, outputMessages } from "./message-content.ts"
import { AGENT_NAME, ERROR_TYPE, OPERATION_NAME, PROVIDER_NAME, REQUEST_MODEL } from "./names.ts"
import type { Observed } from "./observed.ts"
import type { Subject } from "./observer.ts"

export interface ModelCallInfo {
  readonly agent: string
  readonly model: string
  /** As the client's `identity` names it. @default "unknown" */
  readonly provider?: string | undefined
  /** @default false */
  readonly streams?: boolean | undefined
  /** Kept only where content is captured. */
  readonly messages?: readonly LLMMessage[] | undefined
  /** How many tools the model may call. */
  readonly tools?: number | undefined
  /** @default the span that is active */
  readonly parent?: Observed<unknown> | undefined
}

// Where the conventions have a name for a provider of ours that is another than ours.
const PROVIDERS: Readonly<Record<string, string>> = { "azure-openai": "azure.ai.openai" }

export function modelCall(info: ModelCallInfo): Subject<CreateResult> {
  const { agent, provider = "unknown", streams, messages, tools } = info
  // Each replay has a name that no other has, and metrics would have as many series.
  const model = provider === "replay" ? "replay" : info.model
  const request: Attributes = {
    [OPERATION_NAME]: "chat",
    [PROVIDER_NAME]: PROVIDERS[provider] ?? provider,
    [REQUEST_MODEL]: model,
  }
  return {
    name: `chat ${model}`,
    kind: SpanKind.CLIENT,
    attributes: () => ({
      ...request,
      [AGENT_NAME]: agent,
      "gen_ai.request.stream": streams === true ? true : undefined,
      "glovebox.request.tools": tools,
    }),
    content: (redact) => (messages ? { "gen_ai.input.messages": inputMessages(messages, redact) } : {}),
    outcome: (result) => ({
      "gen_ai.response.finish_reasons": [finishReason(result.finishReason)],
      "glovebox.response.cached": result.cached,
      ...(isCounted(result)
        ? {
            "gen_ai.usage.input_tokens": result.usage.promptTokens,
            "gen_ai.usage.output_tokens": result.usage.completionTokens,
          }
        : {}),
    }),
    outcomeContent: (result, redact) => ({ "gen_ai.output.messages": outputMessages(result, redact) }),
    measure: ({ modelDuration, tokens }, { seconds, outcome, errorType }) => {
      modelDuration.record(
        seconds,
        errorType === undefined ? request : { ...request, [ERROR_TYPE]: errorType },
      )
      // A stored answer has cost no tokens.
      if (outcome === undefined || outcome.cached || !isCounted(outcome)) return
      tokens.record(outcome.usage.promptTokens, { ...request, "gen_ai.token.type": "input" })
      tokens.record(outcome.usage.completionTokens, { ...request, "gen_ai.token.type": "output" })
    },
  }
}

// Zeros mean that the provider told nothing.
function isCounted({ usage }: CreateResult): boolean {
  return usage.promptTokens > 0 || usage.completionTokens > 0
}
