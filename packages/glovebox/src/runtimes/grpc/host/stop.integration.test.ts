import { describe, expect, it } from "vitest"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import { failureOf } from "../../../core/failure-of.test-kit.ts"
import { GrpcWorkerAgentRuntimeHost } from "../grpc-worker-agent-runtime-host.ts"
import { RawWorker, payload, textOf } from "./raw-worker.test-kit.ts"
import { startHost, until } from "./start-host.test-kit.ts"

describe("a host that stops", () => {
  it("lets requests end within the grace time, and takes no new ones", async () => {
    const host = await startHost()
    using worker = await RawWorker.open(host.address)
    await worker.register("a")
    const id = worker.post("a/1")
    const { request_id } = await worker.request()
    const stopped = host.stop({ graceMs: 60_000 })
    expect(host.status().state).toBe("stopping")
    expect((await worker.send("a/1")).metadata).toEqual({ "glovebox-error-code": "HOST_UNAVAILABLE" })
    await expect(worker.register("b")).rejects.toMatchObject({ code: 14 })
    const seq = worker.publish("news")
    const { notice } = await worker.next((message) => (message.notice?.refusals?.length ?? 0) > 0)
    expect(notice?.refusals).toMatchObject([{ seq, code: "HOST_UNAVAILABLE" }])
    worker.link.send({ response: { request_id, payload: payload("done") } })
    expect(textOf(await worker.answerTo(id))).toBe("done")
    await stopped
    await host.stop()
    await expectFailure(host.start(), "RUNTIME_STOPPED")
  })

  it("answers everyone who still waits", async () => {
    const host = await startHost()
    using worker = await RawWorker.open(host.address, { credits: 1 })
    await worker.register("a")
    using plain = await RawWorker.open(host.address, { isLink: false })
    const ids = [plain.post("a/1"), plain.post("a/1")]
    await worker.request()
    await until(() => host.status().pending === 2)
    await host.stop({ graceMs: 0 })
    const [written, waiting] = [await plain.answerTo(ids[0] ?? ""), await plain.answerTo(ids[1] ?? "")]
    expect(written.metadata).toEqual({ "glovebox-error-code": "CONNECTION_LOST" })
    expect(written.error).toMatch(/stopped before a\/1 answered\. The message may have been handled/)
    expect(waiting.metadata).toEqual({ "glovebox-error-code": "HOST_UNAVAILABLE" })
    using late = new RawWorker(host.address)
    await expect(late.connect()).rejects.toMatchObject({ code: 14 })
  })

  it("frees its port, also when it was never started", async () => {
    const host = await startHost()
    const taken = new GrpcWorkerAgentRuntimeHost({ address: host.address })
    await expectFailure(taken.start(), "HOST_UNAVAILABLE", /cannot listen at 127\.0\.0\.1:\d+: .*EADDRINUSE/)
    await taken.stop()
    await host.stop()
    const next = new GrpcWorkerAgentRuntimeHost({ address: host.address })
    await next.start()
    await next.stop()
    await new GrpcWorkerAgentRuntimeHost({ address: "127.0.0.1:0" }).stop()
  })
})

describe("a host's options", () => {
  it("are refused with their names", () => {
    const make = (options: object): string =>
      failureOf(() => new GrpcWorkerAgentRuntimeHost({ address: "127.0.0.1:0", ...options }))
    expect(make({ address: "0.0.0.0:0" })).toMatch(
      /^OPTION_INVALID: 0\.0\.0\.0:0 is not an address of this machine/,
    )
    expect(make({ maxMessageBytes: 65 * 1024 * 1024 })).toMatch(/maxMessageBytes: is more than 64 MiB/)
    expect(make({ grace: 5 })).toMatch(/grace is not an option; did you mean graceMs\?/)
    expect(make({ tokens: [{ name: "x", token: "a b" }] })).toMatch(/tokens\.0\.token: is no bearer token/)
  })
})
