import type { OpenAI } from "openai"
import { GloveboxError } from "../../core/index.ts"
import type { ModelInfo } from "../model-info.ts"
import type { ModelRequest } from "../model-request.ts"
import type { ToolSchema } from "../tool-schema.ts"
import { toOpenAIMessages } from "./openai-messages.ts"
import { isReasoningFamily } from "./openai-models.ts"
import type { OpenAIRequestOptions } from "./openai-options.ts"

type Body = OpenAI.Chat.ChatCompletionCreateParams

/** What a request is made with, besides the request itself. */
export interface RequestSettings extends OpenAIRequestOptions {
  readonly model: string
  readonly addNamePrefixes: boolean
  readonly includeUsage: boolean
}

// Fields that the client itself decides on.
const OWN = ["model", "messages", "stream", "tools", "tool_choice", "n", "functions", "function_call"]

/** The body of a request. */
export function toOpenAIBody(request: ModelRequest, settings: RequestSettings, info: ModelInfo): Body {
  const extra = { ...settings.extraCreateArgs, ...request.extra }
  const taken = OWN.find((name) => name in extra)
  if (taken !== undefined) {
    throw new GloveboxError(
      "MODEL_REQUEST_INVALID",
      `extraCreateArgs must not have ${taken}: the client sets it.`,
    )
  }
  if (request.output !== undefined && "response_format" in extra) {
    throw new GloveboxError(
      "MODEL_REQUEST_INVALID",
      "extraCreateArgs has response_format, and there is a jsonOutput. Pass one of them.",
    )
  }
  return {
    model: settings.model,
    messages: toOpenAIMessages(request.messages, { ...settings, family: info.family }),
    ...sampling(settings, info.family),
    ...tools(request, settings),
    ...(request.output === undefined ? {} : { response_format: responseFormat(request.output) }),
    ...extra,
  }
}

function sampling(settings: RequestSettings, family: string): Partial<Body> {
  const { maxTokens, topLogprobs } = settings
  const fields = {
    temperature: settings.temperature,
    top_p: settings.topP,
    stop: typeof settings.stop === "object" ? [...settings.stop] : settings.stop,
    seed: settings.seed,
    frequency_penalty: settings.frequencyPenalty,
    presence_penalty: settings.presencePenalty,
    reasoning_effort: settings.reasoningEffort as Body["reasoning_effort"],
    [isReasoningFamily(family) ? "max_completion_tokens" : "max_tokens"]: maxTokens,
    logprobs: topLogprobs === undefined ? undefined : true,
    top_logprobs: topLogprobs === 0 ? undefined : topLogprobs,
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function tools({ tools, toolChoice }: ModelRequest, { parallelToolCalls }: RequestSettings): Partial<Body> {
  if (tools.length === 0) return {}
  return {
    tools: tools.map(toFunction),
    tool_choice:
      typeof toolChoice === "string" ? toolChoice : { type: "function", function: { name: toolChoice.name } },
    ...(parallelToolCalls === undefined ? {} : { parallel_tool_calls: parallelToolCalls }),
  }
}

function toFunction({
  name,
  description = "",
  parameters,
  strict,
}: ToolSchema): OpenAI.Chat.ChatCompletionTool {
  return {
    type: "function",
    function: {
      name,
      description,
      parameters: parameters ?? { type: "object", properties: {} },
      ...(strict === true ? { strict } : {}),
    },
  }
}

function responseFormat(output: NonNullable<ModelRequest["output"]>): Body["response_format"] {
  if (output.type === "json") return { type: "json_object" }
  const { name, schema, strict } = output
  return { type: "json_schema", json_schema: { name, schema, strict } }
}
