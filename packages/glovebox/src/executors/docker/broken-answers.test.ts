import { once } from "node:events"
import { type AddressInfo, type Socket, createServer } from "node:net"
import { describe, it, onTestFinished } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { findEngine } from "./engine-address.ts"
import { Engine } from "./engine.ts"

/** An engine that answers as it is told to, and is gone with the test. */
async function engineThat(answers: (socket: Socket) => void): Promise<Engine> {
  const server = createServer((socket) => {
    socket.on("error", () => {})
    socket.once("data", () => answers(socket))
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const engine = new Engine(await findEngine({ dockerHost: `tcp://127.0.0.1:${port}` }))
  onTestFinished(() => {
    engine.close()
    server.close()
  })
  return engine
}

describe("an engine that is gone in the middle of its answer", () => {
  it.each([
    ["before its first byte", ""],
    [
      "after its head",
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
    ["within its body", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[{"],
    ["within what it says of a failure", "HTTP/1.1 500 Failed\r\nContent-Length: 100\r\n\r\n{"],
  ])("is one that does not answer: %s", async (_when, text) => {
    const engine = await engineThat((socket) => socket.write(text, () => socket.destroy()))
    await expectFailure(engine.list(["a=b"]), "ENGINE_UNAVAILABLE")
  })
})
