import http2 from "node:http2"
import { connect } from "node:net"
import { describe, expect, it } from "vitest"
import { encodeMessage } from "../wire/codec.ts"
import type { WireMessage } from "../wire/wire-message.ts"
import { RawWorker, payload } from "./raw-worker.test-kit.ts"
import { startHost, until } from "./start-host.test-kit.ts"

const request = { request_id: "1", target: { type: "echo", key: "1" }, payload: payload("x") }

describe("a host that is sent nonsense", () => {
  it.each([
    ["bytes that are no message", [Buffer.from([255, 255, 255, 255])]],
    ["a number that leaves one out", [encodeMessage({ seq: 5, request })]],
    ["no number", [encodeMessage({ request })]],
    ["a number that is none", [encodeMessage({ seq: Number.NaN, request })]],
    ["an acknowledgement of what was never sent", [encodeMessage({ beat: { received: 1e9 } })]],
    ["a batch in a batch", [encodeMessage({ batch: [{ batch: [{ batch: [{ request, seq: 1 }] }] }] })]],
    ["a message that is too large", [Buffer.alloc(200_000)]],
  ])("drops the stream of %s, and serves the others", async (_name, frames) => {
    // Long enough that it is not dropped for its silence.
    await using host = await startHost({ graceMs: 50, heartbeatMs: 60_000, maxMessageBytes: 100_000 })
    using good = (await RawWorker.open(host.address)).echo()
    await good.register("echo")
    using bad = new RawWorker(host.address)
    const stream = bad.client.openChannel(bad.metadata({ "glovebox-link": "1" }))
    stream.on("error", () => {})
    stream.resume()
    for (const frame of frames) stream.write(frame)
    await until(() => host.metrics().connections === 2 && host.status().workers.length === 1)
    expect((await good.send("echo/1")).error).toBe("")
  })

  it("takes every kind of odd message without harm", async () => {
    await using host = await startHost()
    using good = (await RawWorker.open(host.address)).echo()
    await good.register("echo")
    using bad = await RawWorker.open(host.address)
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, "v"]))
    const id = { type: "x".repeat(5000), key: "y" }
    const odd: WireMessage[] = [
      { request: { request_id: "" } },
      { request: { request_id: "a", target: id } },
      { request: { ...request, request_id: "b", metadata: many } },
      { request: { ...request, request_id: "c", metadata: { "glovebox-timeout-ms": "-1" } } },
      { request: { ...request, request_id: "d", metadata: { "glovebox-timeout-ms": "1e999" } } },
      { response: { request_id: "__proto__" } },
      { cloudEvent: { id: "", type: "", source: "" } },
      { cloudEvent: { id: "x".repeat(5000), type: "t", source: "s" } },
      { notice: { handled: 4_000_000_000, unregistered: ["never"], leave: "what" } },
      { notice: { removed: [id], alive: [id], cancellations: [{ id: "never", reason: "" }] } },
      { notice: { quiet_answer: { id: 3, activity: 1 }, refusals: [{ seq: 1, code: "", text: "" }] } },
    ]
    for (const message of odd) bad.link.send(message)
    expect((await bad.send("echo/1")).error).toBe("")
    for (const answered of ["b", "c", "d"]) expect((await bad.answerTo(answered)).error).toBe("")
    expect((await bad.answerTo("a")).metadata).toEqual({ "glovebox-error-code": "AGENT_ID_INVALID" })
    expect((await good.send("echo/1")).error).toBe("")
  })

  it("refuses a request id that is in use, so that its first owner has its answer", async () => {
    await using host = await startHost()
    using worker = await RawWorker.open(host.address)
    await worker.register("echo")
    worker.post("echo/1", { request_id: "same" })
    await worker.request()
    expect((await worker.send("echo/1", { request_id: "same" })).metadata).toEqual({
      "glovebox-error-code": "MESSAGE_INVALID",
    })
  })

  it("bounds what one client registers", async () => {
    await using host = await startHost()
    using worker = await RawWorker.open(host.address)
    const outcomes = await Promise.allSettled(
      Array.from({ length: 1010 }, async (_, index) => await worker.register(`t${index}`)),
    )
    const refused = outcomes.filter((outcome) => outcome.status === "rejected")
    expect(refused).toHaveLength(10)
    expect(refused[0]).toMatchObject({ reason: { code: 8 } })
  })

  it("survives what is not HTTP/2, and connections that say nothing", async () => {
    await using host = await startHost()
    const port = Number(host.address.split(":")[1])
    const sockets = Array.from({ length: 5 }, () => connect(port, "127.0.0.1"))
    for (const socket of sockets) socket.on("error", () => {})
    sockets[0]?.write("GET / HTTP/1.1\r\n\r\n")
    sockets[1]?.write(Buffer.alloc(1000, 255))
    using good = (await RawWorker.open(host.address)).echo()
    await good.register("echo")
    expect((await good.send("echo/1")).error).toBe("")
    for (const socket of sockets) socket.destroy()
  })
})

describe("a worker that does not read", () => {
  it.each([true, false])("is given up when its answers pile up (link: %s)", async (isLink) => {
    await using host = await startHost({ maxQueued: 10, maxQueuedBytes: 100_000, heartbeatMs: 60_000 })
    // HTTP/2 without gRPC's client, which would read ahead.
    const session = http2.connect(`http://${host.address}`)
    session.on("error", () => {})
    const call = session.request({
      ":method": "POST",
      ":path": "/agents.AgentRpc/OpenChannel",
      "content-type": "application/grpc",
      "client-id": "deaf",
      ...(isLink && { "glovebox-link": "1" }),
    })
    call.on("error", () => {})
    const target = { type: "nobody", key: "1" }
    let seq = 0
    const isThere = (): boolean => host.metrics().connections === 0 || host.status().workers.length > 0
    while (isThere()) {
      // Each makes an answer of the host, and none is read.
      const request = { request_id: `${++seq}${"x".repeat(500)}`, target }
      const frame = encodeMessage({ request, ...(isLink && { seq }) })
      const head = Buffer.alloc(5)
      head.writeUInt32BE(frame.length, 1)
      if (!call.write(Buffer.concat([head, frame]))) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(host.metrics().requests).toBeGreaterThan(100)
    session.destroy()
  })
})
