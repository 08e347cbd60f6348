import type { Answer, Wire } from "../model-server.test-kit.ts"

const HEAD = { model: "test-model", created_at: "2026-01-01T00:00:00.000000Z" }

/** The format of Ollama's own chat API: one JSON object, or one to a line. */
export const ollamaWire: Wire = {
  path: /\/api\/chat$/,
  streamType: "application/x-ndjson",
  isStream: (body) => body.includes('"stream":true'),
  whole: (answer) => ({
    ...HEAD,
    message: {
      role: "assistant",
      content: (answer.pieces ?? []).join(""),
      ...(answer.thought === undefined ? {} : { thinking: answer.thought }),
      ...(answer.calls ? { tool_calls: answer.calls.map(toCall) } : {}),
    },
    ...end(answer),
  }),
  stream: (answer) => [
    ...(answer.thought === undefined ? [] : [part({ content: "", thinking: answer.thought })]),
    ...(answer.pieces ?? []).map((content) => part({ content })),
    // Each call whole, in a line of its own.
    ...(answer.calls ?? []).map((call) => part({ content: "", tool_calls: [toCall(call)] })),
    line({ ...HEAD, message: { role: "assistant", content: "" }, ...end(answer) }),
  ],
  beginning: (piece) => part({ content: piece ?? "" }),
  garbage: "{not json\n",
  error: (_status, message) => ({ error: message }),
}

function part(message: object): string {
  return line({ ...HEAD, message: { role: "assistant", ...message }, done: false })
}

export function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}

function toCall({ name, arguments: args }: NonNullable<Answer["calls"]>[number]): unknown {
  return { function: { name, arguments: JSON.parse(args) as unknown } }
}

function end({ finish, usage = { promptTokens: 3, completionTokens: 1 } }: Answer): object {
  return {
    done: true,
    done_reason: finish ?? "stop",
    total_duration: 12_345,
    prompt_eval_count: usage.promptTokens,
    eval_count: usage.completionTokens,
  }
}
