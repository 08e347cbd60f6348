import type { Answer, Wire } from "../model-server.test-kit.ts"

const HEAD = { id: "chatcmpl-1", created: 1_700_000_000, model: "test-model", system_fingerprint: "fp" }

/** The format of OpenAI's chat completions. */
export const openAIWire: Wire = {
  path: /\/chat\/completions(?:\?|$)/,
  streamType: "text/event-stream",
  isStream: (body) => body.includes('"stream":true'),
  whole: (answer) => ({
    ...HEAD,
    object: "chat.completion",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: answer.calls && !answer.pieces ? null : (answer.pieces ?? []).join(""),
          refusal: null,
          ...(answer.thought === undefined ? {} : { reasoning_content: answer.thought }),
          ...(answer.calls ? { tool_calls: answer.calls.map(toCall) } : {}),
        },
        logprobs: null,
        finish_reason: finish(answer),
      },
    ],
    usage: usage(answer),
  }),
  stream: (answer) => [
    delta({ role: "assistant", content: "", refusal: null }),
    ...(answer.thought === undefined ? [] : [delta({ reasoning_content: answer.thought })]),
    ...(answer.pieces ?? []).map((content) => delta({ content })),
    ...(answer.calls ?? []).flatMap((call, index) => [
      delta({
        tool_calls: [{ index, id: call.id, type: "function", function: { name: call.name, arguments: "" } }],
      }),
      // In pieces, as the API sends them.
      ...(call.arguments.match(/[^]{1,7}/g) ?? []).map((part) =>
        delta({ tool_calls: [{ index, function: { arguments: part } }] }),
      ),
    ]),
    delta({}, finish(answer)),
    event({ ...HEAD, object: "chat.completion.chunk", choices: [], usage: usage(answer) }),
    "data: [DONE]\n\n",
  ],
  beginning: (piece) => delta({ role: "assistant", content: piece ?? "" }),
  garbage: "data: {not json\n\n",
  error: (status, message) => ({
    error: { message, type: "some_error", param: null, code: `code_${status}` },
  }),
}

export function delta(content: unknown, finishReason: string | null = null): string {
  return event({
    ...HEAD,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta: content, logprobs: null, finish_reason: finishReason }],
  })
}

export function event(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

function toCall({ id, name, arguments: args }: NonNullable<Answer["calls"]>[number]): unknown {
  return { id, type: "function", function: { name, arguments: args } }
}

function finish({ calls, finish: reason }: Answer): string {
  return calls ? "tool_calls" : (reason ?? "stop")
}

function usage({ usage: used = { promptTokens: 3, completionTokens: 1 } }: Answer): unknown {
  return {
    prompt_tokens: used.promptTokens,
    completion_tokens: used.completionTokens,
    total_tokens: used.promptTokens + used.completionTokens,
  }
}
