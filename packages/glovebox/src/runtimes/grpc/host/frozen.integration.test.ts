import { type Socket, connect, createServer } from "node:net"
import { describe, expect, it } from "vitest"
import { RawWorker } from "./raw-worker.test-kit.ts"
import { startHost } from "./start-host.test-kit.ts"

/** A way to a host that can be made to carry nothing more, as a process that is stopped or a network that is cut. */
async function freezer(address: string) {
  const port = Number(address.split(":")[1])
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1")
    for (const socket of [near, far]) sockets.add(socket.on("error", () => {}))
    near.pipe(far).pipe(near)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const bound = server.address()
  return {
    address: `127.0.0.1:${typeof bound === "object" ? bound?.port : ""}`,
    freeze() {
      for (const socket of sockets) socket.unpipe().pause()
    },
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

describe("a worker that is frozen with a request", () => {
  it.each([true, false])("is found, and its caller has an answer (link: %s)", async (isLink) => {
    await using host = await startHost()
    using way = await freezer(host.address)
    using worker = await RawWorker.open(way.address, { isLink })
    await worker.register("a")
    using caller = await RawWorker.open(host.address)
    const id = caller.post("a/1")
    await worker.request()
    way.freeze()
    expect((await caller.answerTo(id)).metadata).toEqual({ "glovebox-error-code": "WORKER_LOST" })
    expect(host.status().workers).toMatchObject([{ clientId: caller.clientId }])
  })
})
