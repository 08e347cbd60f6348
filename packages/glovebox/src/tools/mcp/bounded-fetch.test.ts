import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, describe, expect, it } from "vitest"
import { boundedFetch } from "./bounded-fetch.ts"

let close = async (): Promise<void> => {}
afterEach(async () => close())

/** An address whose answer is these chunks. */
async function serving(contentType: string, chunks: readonly string[], status = 200): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(status, { "content-type": contentType })
    for (const chunk of chunks) response.write(chunk)
    response.end()
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  close = async () => {
    const closed = once(server, "close")
    server.close()
    server.closeAllConnections()
    await closed
  }
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe("boundedFetch", () => {
  it("passes on what fits, with its status and headers", async () => {
    const response = await boundedFetch(10)(await serving("text/plain", ["12345", "67890"], 404))
    expect(response.status).toBe(404)
    expect(response.headers.get("content-type")).toBe("text/plain")
    expect(await response.text()).toBe("1234567890")
  })

  it("refuses more", async () => {
    const response = await boundedFetch(10)(await serving("application/json", ["12345", "678901"]))
    await expect(response.text()).rejects.toThrow("more than 10 bytes")
  })

  it.each(["\n\n", "\r\n\r\n", "\r\r"])("counts a stream by its events, which end with %j", async (end) => {
    const events = `data: 1234${end}`.repeat(50)
    for (const chunks of [[events], events.split("")]) {
      const response = await boundedFetch(16)(await serving("text/event-stream; charset=utf-8", chunks))
      expect(await response.text()).toBe(events)
      await close()
      close = async () => {}
    }
    const endless = await boundedFetch(16)(
      await serving("text/event-stream", [events, "data: 12345678901234567"]),
    )
    await expect(endless.text()).rejects.toThrow("more than 16 bytes")
  })
})
