import { inspect } from "node:util"
import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { gate } from "../../core/gate.test-kit.ts"
import { ClosureAgent, type Logger, agentId, topicId, typeSubscription } from "../../core/index.ts"
import { Ping, Pong, ping, startHost, startWorker } from "./grpc-runtime.test-kit.ts"
import { RawWorker } from "./host/raw-worker.test-kit.ts"

const MEBIBYTE = 1024 * 1024

describe("large messages", () => {
  it("are carried where host and workers say so, up to 64 MiB", async () => {
    const maxMessageBytes = 64 * MEBIBYTE
    const host = await startHost({ maxMessageBytes, graceMs: 20_000 })
    const [one, two] = [
      await startWorker(host.address, { maxMessageBytes }),
      await startWorker(host.address, { maxMessageBytes }),
    ]
    const sizes = ({ text }: { readonly text: string }) => Pong({ text: String(text.length) })
    await two.register("size", () => new ClosureAgent([Ping], sizes))
    const text = "x".repeat(63 * MEBIBYTE)
    expect(await one.send(ping(text), agentId("size"))).toEqual(Pong({ text: String(text.length) }))
    await expectFailure(
      one.send(ping(`${text}${"y".repeat(2 * MEBIBYTE)}`), agentId("size")),
      "MESSAGE_TOO_LARGE",
    )
  })
})

describe("a worker's own deadline", () => {
  it("ends sends that bring none, and what they began", async () => {
    const host = await startHost()
    const callee = await startWorker(host.address)
    const caller = await startWorker(host.address, { sendTimeoutMs: 200 })
    const aborted = gate()
    await callee.register(
      "slow",
      () =>
        new ClosureAgent([Ping], async (_message, { signal }) => {
          await new Promise((resolve) => signal.addEventListener("abort", resolve))
          aborted.open()
          throw signal.reason
        }),
    )
    await expectFailure(caller.send(ping(""), agentId("slow")), "SEND_TIMEOUT")
    await aborted.promise
  })
})

describe("what is logged", () => {
  it("has nothing of any payload, whatever goes wrong", async () => {
    const lines: string[] = []
    const line = (...args: readonly unknown[]): void => {
      lines.push(inspect(args, { depth: 20, maxStringLength: null, showHidden: true }))
    }
    const logger: Logger = { debug: line, info: line, warn: line, error: line }
    const host = await startHost({ logger, maxMessageBytes: 100_000, graceMs: 2000 })
    const callee = await startWorker(host.address, { logger })
    const caller = await startWorker(host.address, { logger })
    const subscriptions = [typeSubscription("news")]
    const begun = gate()
    await callee.register(
      "a",
      () =>
        new ClosureAgent([Ping], async ({ text }, { signal }) => {
          if (text.endsWith("wait")) {
            begun.open()
            await new Promise((resolve) => signal.addEventListener("abort", resolve))
          }
          throw new Error("no luck")
        }),
      { subscriptions },
    )
    await expectFailure(caller.send(ping("SECRET"), agentId("a")), "AGENT_FAILED")
    await expectFailure(caller.send(ping(`SECRET${"x".repeat(200_000)}`), agentId("a")), "MESSAGE_TOO_LARGE")
    await expectFailure(caller.send(Pong({ text: "SECRET" }), agentId("a")), "MESSAGE_UNHANDLED")
    await expectFailure(caller.send(ping("SECRET"), agentId("nobody")), "AGENT_TYPE_UNKNOWN")
    await caller.publish(ping("SECRET"), topicId("news", "1"))
    await caller.publish(Pong({ text: "SECRET" }), topicId("news", "2"))
    // What is no JSON, no message of its type, or of a kind that nobody knows.
    using raw = await RawWorker.open(host.address)
    for (const data of ["SECRET that is no JSON", '{"text":["SECRET"]}', '{"SECRET":1}', "\0SECRET"]) {
      for (const data_content_type of ["application/json", "application/x-protobuf", "SECRET"]) {
        const payload = { data_type: "Ping", data_content_type, data: Buffer.from(data) }
        expect((await raw.send("a/1", { payload })).error).toMatch(/./)
      }
      raw.link.send({
        cloudEvent: {
          id: data.slice(-4),
          type: "news",
          source: "3",
          binary_data: Buffer.from(data),
          attributes: {
            dataschema: { ce_string: "Ping" },
            datacontenttype: { ce_string: "application/json" },
          },
        },
      })
    }
    raw.link.send({ notice: { leave: "bye" } })
    await caller.whenIdle()
    const lost = expectFailure(caller.send(ping("SECRET wait"), agentId("a", "9")), "RUNTIME_STOPPED")
    await begun.promise
    await callee.stop()
    await lost
    expect(lines.length).toBeGreaterThan(4)
    expect(lines.filter((text) => text.includes("SECRET"))).toEqual([])
  })
})
