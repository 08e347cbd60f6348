import type { Answer, Wire } from "../model-server.test-kit.ts"

/** The format of Anthropic's messages. */
export const anthropicWire: Wire = {
  path: /\/v1\/messages(?:\?|$)/,
  streamType: "text/event-stream",
  isStream: (body) => body.includes('"stream":true'),
  whole: (answer) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "test-model",
    content: [
      ...(answer.thought === undefined
        ? []
        : [{ type: "thinking", thinking: answer.thought, signature: "c2lnbmVk" }]),
      ...(answer.pieces ? [{ type: "text", text: answer.pieces.join(""), citations: null }] : []),
      ...(answer.calls ?? []).map((call) => ({
        type: "tool_use",
        id: call.id,
        name: call.name,
        input: JSON.parse(call.arguments) as unknown,
      })),
    ],
    stop_reason: stopReason(answer),
    stop_sequence: null,
    usage: usage(answer),
  }),
  stream: (answer) => {
    const blocks = [
      ...(answer.thought === undefined ? [] : [thinking(answer.thought)]),
      ...(answer.pieces ? [text(answer.pieces)] : []),
      ...(answer.calls ?? []).map(toolUse),
    ]
    return [
      start(usage(answer)),
      ...blocks.flatMap((block, index) => [
        event("content_block_start", { index, content_block: block.start }),
        // Between any two events.
        event("ping", {}),
        ...block.deltas.map((delta) => event("content_block_delta", { index, delta })),
        event("content_block_stop", { index }),
      ]),
      event("message_delta", {
        delta: { stop_reason: stopReason(answer), stop_sequence: null },
        usage: { output_tokens: used(answer).completionTokens },
      }),
      event("message_stop", {}),
    ]
  },
  beginning: (piece) =>
    start({ input_tokens: 3, output_tokens: 1 }) +
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }) +
    event("content_block_delta", { index: 0, delta: { type: "text_delta", text: piece ?? "" } }),
  garbage: "event: content_block_delta\ndata: {not json\n\n",
  error: (status, message) => ({
    type: "error",
    error: { type: status === 404 ? "not_found_error" : "api_error", message },
    request_id: "req_1",
  }),
}

export function event(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`
}

export function start(usage: unknown): string {
  return event("message_start", {
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      stop_reason: null,
      usage,
    },
  })
}

interface StreamedBlock {
  readonly start: object
  readonly deltas: readonly object[]
}

function thinking(thought: string): StreamedBlock {
  return {
    start: { type: "thinking", thinking: "", signature: "" },
    deltas: [
      { type: "thinking_delta", thinking: thought },
      { type: "signature_delta", signature: "c2lnbmVk" },
    ],
  }
}

function text(pieces: readonly string[]): StreamedBlock {
  return {
    start: { type: "text", text: "" },
    deltas: pieces.map((piece) => ({ type: "text_delta", text: piece })),
  }
}

function toolUse({ id, name, arguments: args }: NonNullable<Answer["calls"]>[number]): StreamedBlock {
  return {
    start: { type: "tool_use", id, name, input: {} },
    deltas: ["", ...(args.match(/[^]{1,7}/g) ?? [])].map((part) => ({
      type: "input_json_delta",
      partial_json: part,
    })),
  }
}

function stopReason({ calls, finish }: Answer): string {
  if (calls) return "tool_use"
  return finish === "length" ? "max_tokens" : finish === "content_filter" ? "refusal" : "end_turn"
}

function used({
  usage: tokens = { promptTokens: 3, completionTokens: 1 },
}: Answer): NonNullable<Answer["usage"]> {
  return tokens
}

function usage(answer: Answer): unknown {
  const { promptTokens, completionTokens } = used(answer)
  // Most of the prompt was read before.
  return {
    input_tokens: 1,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: promptTokens - 1,
    output_tokens: completionTokens,
  }
}
