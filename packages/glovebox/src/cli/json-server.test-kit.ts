import { once } from "node:events"
import { type IncomingMessage, type ServerResponse, createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface JsonServer extends AsyncDisposable {
  readonly url: string
}

/** A server that answers by path, with JSON. */
export async function serveJson(
  answers: Readonly<Record<string, (body: string) => unknown>>,
): Promise<JsonServer> {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = ""
    for await (const text of request) body += String(text)
    const answer = answers[request.url ?? ""]
    if (answer) response.end(`${JSON.stringify(answer(body))}\n`)
    else response.writeHead(404).end()
  }
  const server = createServer((request, response) => void serve(request, response))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close")
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
