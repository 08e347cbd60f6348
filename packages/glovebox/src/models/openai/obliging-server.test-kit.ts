import { once } from "node:events"
import { type ServerResponse, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { z } from "zod"
import { openAIWire } from "./openai-wire.test-kit.ts"

const requestSchema = z.object({
  stream: z.boolean().default(false),
  max_tokens: z.number().default(1000),
  tool_choice: z.string().optional(),
  response_format: z.object({ type: z.string() }).optional(),
})

const usage = { promptTokens: 9, completionTokens: 5 }

/** A server of OpenAI's kind that does what is asked of it, as a model would that never errs. */
export async function obligingServer(): Promise<{ readonly baseURL: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    let text = ""
    request.setEncoding("utf8")
    request.on("data", (part: string) => (text += part))
    request.on("end", () => answer(requestSchema.parse(JSON.parse(text)), text, response))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}

function answer(request: z.output<typeof requestSchema>, text: string, response: ServerResponse): void {
  if (request.stream && text.includes("very long story")) {
    // It goes on for ever.
    response.writeHead(200, { "content-type": openAIWire.streamType })
    response.write(openAIWire.beginning("Once "))
    return
  }
  const reply =
    request.tool_choice === "required"
      ? { type: "answer" as const, calls: [{ id: "c1", name: "add", arguments: '{"a":2,"b":3}' }], usage }
      : {
          type: "answer" as const,
          pieces: says(request),
          usage,
          finish: request.max_tokens < 10 ? ("length" as const) : ("stop" as const),
        }
  if (request.stream) {
    response.writeHead(200, { "content-type": openAIWire.streamType }).end(openAIWire.stream(reply).join(""))
    return
  }
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(openAIWire.whole(reply)))
}

function says({ response_format: format }: z.output<typeof requestSchema>): string[] {
  if (format?.type === "json_schema") return ['{"city":"Rome","isCapital":true}']
  return format ? ['{"ok":true}'] : ["One, ", "two."]
}
