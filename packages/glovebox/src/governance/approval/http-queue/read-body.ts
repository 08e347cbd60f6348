import type { IncomingMessage } from "node:http"

/** The JSON of a body; undefined when it is larger than it may be. */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<{ value: unknown } | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return undefined
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks))
  return { value: JSON.parse(text) as unknown }
}
