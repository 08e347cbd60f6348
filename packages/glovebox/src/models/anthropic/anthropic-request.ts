import type Anthropic from "@anthropic-ai/sdk"
import { GloveboxError } from "../../core/index.ts"
import type { LLMMessage } from "../messages.ts"
import type { ModelRequest } from "../model-request.ts"
import type { ToolSchema } from "../tool-schema.ts"
import { toAnthropicMessages } from "./anthropic-messages.ts"
import type { ReadAnthropicOptions } from "./anthropic-options.ts"

type Body = Anthropic.MessageCreateParamsNonStreaming

// Fields that the client itself decides on.
const OWN = ["model", "messages", "system", "stream", "tools", "tool_choice"]

/** The body of a request. */
export function toAnthropicBody(request: ModelRequest, options: ReadAnthropicOptions): Body {
  const extra = { ...options.extraCreateArgs, ...request.extra }
  const taken = OWN.find((name) => name in extra)
  if (taken !== undefined) {
    throw new GloveboxError(
      "MODEL_REQUEST_INVALID",
      `extraCreateArgs must not have ${taken}: the client sets it.`,
    )
  }
  if (request.output !== undefined && "output_config" in extra) {
    throw new GloveboxError(
      "MODEL_REQUEST_INVALID",
      "extraCreateArgs has output_config, and there is a jsonOutput. Pass one of them.",
    )
  }
  const { system, messages } = toAnthropicMessages(request.messages)
  const { output } = request
  const fields = {
    temperature: options.temperature,
    top_p: options.topP,
    stop_sequences: options.stopSequences,
    thinking: options.thinking,
    system,
    output_config:
      output?.type === "schema" ? { format: { type: "json_schema", schema: output.schema } } : undefined,
  }
  const set = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  return {
    model: options.model,
    max_tokens: options.maxTokens,
    messages,
    ...tools(request, options.parallelToolCalls),
    ...set,
    ...extra,
  }
}

function tools({ tools, toolChoice, messages }: ModelRequest, isParallel: boolean): Partial<Body> {
  if (tools.length > 0) return { tools: tools.map(toTool), tool_choice: toChoice(toolChoice, isParallel) }
  // A conversation with calls in it is refused unless their tools are there; they may not be called again.
  const names = namesOfCalls(messages)
  if (names.length === 0) return {}
  return { tools: names.map((name) => toTool({ name })), tool_choice: { type: "none" } }
}

function toTool({ name, description, parameters, strict }: ToolSchema): Anthropic.Tool {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    input_schema: { properties: {}, ...parameters, type: "object" },
    ...(strict === true ? { strict } : {}),
  }
}

function toChoice(choice: ModelRequest["toolChoice"], isParallel: boolean): Anthropic.ToolChoice {
  if (choice === "none") return { type: "none" }
  const single = isParallel ? {} : { disable_parallel_tool_use: true }
  if (choice === "auto") return { type: "auto", ...single }
  return choice === "required" ? { type: "any", ...single } : { type: "tool", name: choice.name, ...single }
}

function namesOfCalls(messages: readonly LLMMessage[]): string[] {
  const calls = messages.flatMap((message) =>
    message.type === "AssistantMessage" && typeof message.content !== "string" ? message.content : [],
  )
  return [...new Set(calls.map(({ name }) => name))]
}
