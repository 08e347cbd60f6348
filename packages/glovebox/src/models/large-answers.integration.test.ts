import { once } from "node:events"
import { type ServerResponse, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, it } from "vitest"
import { expectFailure } from "../core/expect-failure.test-kit.ts"
import { AnthropicChatCompletionClient } from "./anthropic/index.ts"
import type { ChatCompletionClient, LLMMessage } from "./index.ts"
import { OllamaChatCompletionClient } from "./ollama/index.ts"
import { OpenAIChatCompletionClient } from "./openai/index.ts"
import { ABLE } from "./server-subject.test-kit.ts"

const HI: LLMMessage[] = [{ type: "UserMessage", content: "Hi", source: "user" }]

/** Says "x" for ever, within one JSON text or one event. */
const server = createServer((request, response) => {
  let body = ""
  request.on("data", (bytes: Buffer) => (body += bytes.toString()))
  request.on("end", () => {
    const isStream = body.includes('"stream":true')
    const type = request.url === "/api/chat" ? "application/x-ndjson" : "text/event-stream"
    response.writeHead(200, { "content-type": isStream ? type : "application/json" })
    response.write(isStream && type === "text/event-stream" ? 'data: {"x":"' : '{"x":"')
    pour(response)
  })
})
const filling = Buffer.alloc(1024 * 1024, "x")
let baseURL: string

function pour(response: ServerResponse): void {
  while (!response.destroyed && response.write(filling));
  if (!response.destroyed) response.once("drain", () => pour(response))
}

beforeAll(async () => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => {
  server.close()
  server.closeAllConnections()
})

it("an endless answer to Ollama ends in an error", async () => {
  const client = new OllamaChatCompletionClient({ model: "m", baseURL, maxRetries: 0 })
  await expectFailure(client.create(HI), "MODEL_RESPONSE_INVALID", /larger than 64 MB/)
})

const makers: Record<string, () => ChatCompletionClient> = {
  OpenAI: () => new OpenAIChatCompletionClient({ model: "m", modelInfo: ABLE, baseURL, maxRetries: 0 }),
  Anthropic: () => new AnthropicChatCompletionClient({ model: "m", modelInfo: ABLE, baseURL, maxRetries: 0 }),
}

it.each(Object.entries(makers))("an endless answer to %s ends in an error", async (_name, make) => {
  const closed = new Promise((resolve) =>
    server.once("request", (_request, response) => response.on("close", resolve)),
  )
  await expectFailure(make().create(HI), "MODEL_RESPONSE_INVALID", /larger than 64 MB/)
  await closed
  await expectFailure(make().createStream(HI).next(), "MODEL_RESPONSE_INVALID", /larger than 4 MB/)
})
