import { GloveboxError, type JsonObject } from "../../core/index.ts"
import type { LLMMessage } from "../messages.ts"
import type { ModelRequest } from "../model-request.ts"
import type { ReadOllamaOptions } from "./ollama-options.ts"

// Fields that the client itself decides on.
const OWN = ["model", "messages", "stream", "tools", "format"]

/** The body of a request. Fields of `extraCreateArgs` go beside Ollama's own options, and `options` into them. */
export function toOllamaBody(request: ModelRequest, settings: ReadOllamaOptions): Record<string, unknown> {
  const taken = OWN.find((name) => name in request.extra)
  if (taken !== undefined) {
    throw new GloveboxError(
      "MODEL_REQUEST_INVALID",
      `extraCreateArgs must not have ${taken}: the client sets it.`,
    )
  }
  const { options: extraOptions, ...extra } = request.extra
  const options = { ...settings.options, ...(extraOptions as JsonObject | undefined) }
  const tools = offeredTools(request)
  return {
    model: settings.model,
    messages: request.messages.flatMap(toMessages),
    ...(tools.length === 0 ? {} : { tools }),
    ...(request.output === undefined ? {} : { format: format(request.output) }),
    ...(Object.keys(options).length === 0 ? {} : { options }),
    ...(settings.keepAlive === undefined ? {} : { keep_alive: settings.keepAlive }),
    ...(settings.think === undefined ? {} : { think: settings.think }),
    ...extra,
  }
}

/** Ollama has no choice of tools: what must not be called is not offered. */
function offeredTools({ tools, toolChoice }: ModelRequest): unknown[] {
  if (toolChoice === "none") return []
  const offered =
    typeof toolChoice === "object" ? tools.filter(({ name }) => name === toolChoice.name) : tools
  return offered.map(({ name, description = "", parameters = { type: "object", properties: {} } }) => ({
    type: "function",
    function: { name, description, parameters },
  }))
}

function format(output: NonNullable<ModelRequest["output"]>): unknown {
  return output.type === "json" ? "json" : output.schema
}

function toMessages(message: LLMMessage): Record<string, unknown>[] {
  switch (message.type) {
    case "SystemMessage":
      return [{ role: "system", content: message.content }]
    case "UserMessage": {
      const parts = typeof message.content === "string" ? [message.content] : message.content
      const images = parts.flatMap((part) => (typeof part === "string" ? [] : [part.data]))
      const content = parts.filter((part) => typeof part === "string").join("\n")
      return [{ role: "user", content, ...(images.length === 0 ? {} : { images }) }]
    }
    case "AssistantMessage":
      if (typeof message.content === "string") return [{ role: "assistant", content: message.content }]
      return [
        {
          role: "assistant",
          content: "",
          ...(message.thought === undefined ? {} : { thinking: message.thought }),
          tool_calls: message.content.map((call) => ({
            id: call.id,
            function: { name: call.name, arguments: parseArguments(call.arguments) },
          })),
        },
      ]
    case "FunctionExecutionResultMessage":
    default:
      return message.content.map(({ callId, name, content }) => ({
        role: "tool",
        tool_name: name,
        tool_call_id: callId,
        content,
      }))
  }
}

function parseArguments(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value
  } catch {
    // The model wrote no JSON, and was told so by the result.
  }
  return text.trim() === "" ? {} : { arguments: text }
}
