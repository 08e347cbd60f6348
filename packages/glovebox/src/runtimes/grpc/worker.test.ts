import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { gate } from "../../core/gate.test-kit.ts"
import {
  ClosureAgent,
  RoutedAgent,
  UnknownPayload,
  agentId,
  defineMessage,
  topicId,
  typeSubscription,
} from "../../core/index.ts"
import { z } from "zod"
import { Echo, Ping, Pong, makeWorker, ping, startHost, startWorker } from "./grpc-runtime.test-kit.ts"
import { GrpcWorkerAgentRuntime } from "./index.ts"

describe("a worker", () => {
  it("sends to agents of its own and of others", async () => {
    const host = await startHost()
    const [one, two] = [await startWorker(host.address), await startWorker(host.address)]
    await two.register("echo", () => new Echo())
    expect(await one.send(ping("a"), agentId("echo", "1"))).toEqual(Pong({ text: "a from 1" }))
    expect(await two.send(ping("b"), agentId("echo", "2"))).toEqual(Pong({ text: "b from 2" }))
    expect(await one.send(ping("nothing"), agentId("echo", "1"))).toBeUndefined()
    await expectFailure(one.send(ping("fail"), agentId("echo", "1")), "AGENT_FAILED", /^no luck$/)
    await expectFailure(one.send(ping("x"), agentId("nobody")), "AGENT_TYPE_UNKNOWN")
  })

  it("publishes to subscribers of all workers", async () => {
    const host = await startHost()
    const got: string[] = []
    const workers = [await startWorker(host.address), await startWorker(host.address)]
    for (const [index, worker] of workers.entries()) {
      const listen = ({ text }: { text: string }): void => void got.push(`${index} ${text}`)
      await worker.register(`listener${index}`, () => new ClosureAgent([Ping], listen), {
        subscriptions: [typeSubscription("news")],
      })
    }
    await workers[0]?.publish(ping("hi"), topicId("news", "today"))
    await workers[0]?.whenIdle()
    expect(got.toSorted()).toEqual(["0 hi", "1 hi"])
  })

  it("says so when no host is there, and can be started again", async () => {
    const worker = makeWorker("127.0.0.1:1", { connectTimeoutMs: 50 })
    await expectFailure(worker.start(), "HOST_UNAVAILABLE", /127\.0\.0\.1:1/)
    await expectFailure(worker.start(), "HOST_UNAVAILABLE")
  })

  it("refuses options that cannot be meant", () => {
    expect(() => new GrpcWorkerAgentRuntime({ hostAddress: "example.com:1" })).toThrow(/allowPlaintext/)
    const typo = { hostAddress: "127.0.0.1:1", host_address: "x" }
    expect(() => new GrpcWorkerAgentRuntime(typo)).toThrow(/did you mean hostAddress/)
    expect(() => new GrpcWorkerAgentRuntime({ hostAddress: "127.0.0.1:1", clientId: "a,b" })).toThrow(
      /clientId/,
    )
  })

  it("cannot register what the host does not let it, nor an agent that lives elsewhere", async () => {
    const host = await startHost({ tokens: [{ token: "secret", name: "it", register: ["echo", "one"] }] })
    const worker = await startWorker(host.address, { token: "secret" })
    await expectFailure(
      worker.register("other", () => new Echo()),
      "HOST_REFUSED",
    )
    await worker.register("echo", () => new Echo())
    // What was refused left nothing behind.
    await expectFailure(
      worker.register("other", () => new Echo()),
      "HOST_REFUSED",
    )
    await worker.registerInstance(agentId("one", "a"), new Echo())
    const second = await startWorker(host.address, { token: "secret" })
    await expectFailure(second.registerInstance(agentId("one", "a"), new Echo()), "AGENT_ALREADY_REGISTERED")
    await second.registerInstance(agentId("one", "b"), new Echo())
    const unknown = makeWorker(host.address, { token: "wrong" })
    await expectFailure(unknown.start(), "HOST_REFUSED")
  })

  it("keeps what it cannot read as it came", async () => {
    const Strange = defineMessage("Strange", z.object({ n: z.number() }))
    const host = await startHost()
    const [one, two] = [await startWorker(host.address), await startWorker(host.address)]
    await two.register("odd", () => new ClosureAgent([Ping], () => Strange({ n: 1 })))
    const reply = await one.send(ping(""), agentId("odd"))
    expect(UnknownPayload.is(reply) && reply.typeName).toBe("Strange")
    expect(await one.send(ping(""), agentId("odd"), { expect: Strange })).toEqual(Strange({ n: 1 }))
  })

  it("asks for state and description of agents elsewhere, and has them removed", async () => {
    class Memory extends RoutedAgent {
      #texts: string[] = []
      constructor() {
        super("Remembers")
        this.on(Ping, ({ text }) => void this.#texts.push(text))
      }
      override saveState(): { texts: string[] } {
        return { texts: this.#texts }
      }
      override loadState(state: object): void {
        this.#texts = (state as { texts: string[] }).texts
      }
    }
    const host = await startHost()
    const [one, two] = [await startWorker(host.address), await startWorker(host.address)]
    await two.register("memory", () => new Memory())
    const id = agentId("memory", "m")
    await one.send(ping("a"), id)
    expect(await one.saveAgentState(id)).toEqual({ texts: ["a"] })
    await one.loadAgentState(id, { texts: ["b"] })
    expect(await two.saveAgentState(id)).toEqual({ texts: ["b"] })
    expect(await one.agentMetadata(id)).toEqual({ type: "memory", key: "m", description: "Remembers" })
    await one.removeAgent(id)
    expect(await one.saveAgentState(id)).toEqual({ texts: [] })
    await expectFailure(one.saveAgentState(agentId("nobody")), "AGENT_TYPE_UNKNOWN")
    await expectFailure(one.agentMetadata(agentId("nobody")), "AGENT_TYPE_UNKNOWN")
  })

  it.each(["neither", "a", "b"])(
    "answers a circle through two workers, where %s awaits its send late",
    async (who) => {
      const host = await startHost()
      const [one, two] = [await startWorker(host.address), await startWorker(host.address)]
      const [late, sent] = [gate(), gate()]
      class Circle extends RoutedAgent {
        constructor(other: string) {
          super("Asks the other")
          this.on(Ping, async ({ text }) => {
            if (text === "inner") return Pong({ text: "inner" })
            const reply = this.send(ping(this.id.type === "a" ? "" : "inner"), agentId(other))
            if (this.id.type === "b") sent.open()
            if (who === this.id.type) await late.promise
            return await reply
          })
        }
      }
      await one.register("a", () => new Circle("b"))
      await two.register("b", () => new Circle("a"))
      const reply = two.send(ping("outer"), agentId("a"))
      await sent.promise
      // What comes back is at "a" by the time that this is answered.
      await two.agentMetadata(agentId("a"))
      late.open()
      expect(await reply).toEqual(Pong({ text: "inner" }))
    },
  )

  it("refuses what is too large, and goes on", async () => {
    const host = await startHost({ maxMessageBytes: 4096 })
    const worker = await startWorker(host.address, { maxMessageBytes: 4096 })
    await worker.register("echo", () => new Echo())
    await worker.register("big", () => new ClosureAgent([Ping], () => Pong({ text: "x".repeat(10_000) })))
    await expectFailure(worker.send(ping("x".repeat(10_000)), agentId("echo")), "MESSAGE_TOO_LARGE")
    await expectFailure(worker.publish(ping("x".repeat(10_000))), "MESSAGE_TOO_LARGE")
    await expectFailure(worker.send(ping(""), agentId("big")), "MESSAGE_TOO_LARGE")
    expect(await worker.send(ping("small"), agentId("echo", "k"))).toEqual(Pong({ text: "small from k" }))
  })
})
