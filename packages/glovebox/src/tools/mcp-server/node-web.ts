import type { IncomingMessage, ServerResponse } from "node:http"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"

/** A request of Node's server as the web's; its signal aborts when the caller goes away. */
export function toWebRequest(request: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    for (const one of Array.isArray(value) ? value : [value ?? ""]) headers.append(name, one)
  }
  const method = request.method ?? "GET"
  const url = new URL(request.url ?? "/", `http://${request.headers.host ?? "localhost"}`)
  if (method === "GET" || method === "HEAD") return new Request(url, { method, headers, signal })
  const body = Readable.toWeb(request) as unknown as ReadableStream
  return new Request(url, { method, headers, signal, body, duplex: "half" })
}

/** Sends the web's response by Node's server, as it comes. */
export async function sendWebResponse(response: Response, out: ServerResponse): Promise<void> {
  out.writeHead(response.status, Object.fromEntries(response.headers))
  out.flushHeaders()
  if (!response.body) {
    out.end()
    return
  }
  await pipeline(Readable.fromWeb(response.body), out)
}
