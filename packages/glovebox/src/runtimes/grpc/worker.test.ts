import { describe, expect, it, onTestFinished } from "vitest"
import { z } from "zod"
import {
  ClosureAgent,
  RoutedAgent,
  agentId,
  defineMessage,
  silentLogger,
  topicId,
  typeSubscription,
} from "../../core/index.ts"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import {
  GrpcWorkerAgentRuntime,
  GrpcWorkerAgentRuntimeHost,
  type GrpcWorkerAgentRuntimeOptions,
} from "./index.ts"

const Ping = defineMessage("Ping", z.object({ text: z.string() }))
const Pong = defineMessage("Pong", z.object({ text: z.string() }))

class Echo extends RoutedAgent {
  constructor() {
    super("Answers")
    this.on(Ping, ({ text }) => {
      if (text === "fail") throw new Error("no luck")
      if (text === "nothing") return undefined
      return Pong({ text: `${text} from ${this.id.key}` })
    })
  }
}

async function startHost(): Promise<GrpcWorkerAgentRuntimeHost> {
  const host = new GrpcWorkerAgentRuntimeHost({ address: "127.0.0.1:0", logger: silentLogger })
  await host.start()
  onTestFinished(async () => host.stop({ graceMs: 0 }))
  return host
}

async function startWorker(
  host: GrpcWorkerAgentRuntimeHost,
  options: Partial<GrpcWorkerAgentRuntimeOptions> = {},
): Promise<GrpcWorkerAgentRuntime> {
  const worker = new GrpcWorkerAgentRuntime({ hostAddress: host.address, logger: silentLogger, ...options })
  worker.addMessageType(Pong)
  await worker.start()
  onTestFinished(async () => worker.close())
  return worker
}

describe("a worker", () => {
  it("sends to agents of its own and of others", async () => {
    const host = await startHost()
    const [one, two] = [await startWorker(host), await startWorker(host)]
    await two.register("echo", () => new Echo())
    expect(await one.send(Ping({ text: "a" }), agentId("echo", "1"))).toEqual(Pong({ text: "a from 1" }))
    expect(await two.send(Ping({ text: "b" }), agentId("echo", "2"))).toEqual(Pong({ text: "b from 2" }))
    expect(await one.send(Ping({ text: "nothing" }), agentId("echo", "1"))).toBeUndefined()
    await expectFailure(one.send(Ping({ text: "fail" }), agentId("echo", "1")), "AGENT_FAILED", /^no luck$/)
    await expectFailure(one.send(Ping({ text: "x" }), agentId("nobody")), "AGENT_TYPE_UNKNOWN")
  })

  it("publishes to subscribers of all workers", async () => {
    const host = await startHost()
    const workers = [await startWorker(host), await startWorker(host)]
    const got: string[] = []
    for (const [index, worker] of workers.entries()) {
      await worker.register(
        `listener${index}`,
        () =>
          new ClosureAgent(
            [Ping],
            ({ text }, { topicId }) => void got.push(`${index} ${topicId?.source} ${text}`),
          ),
        { subscriptions: [typeSubscription("news")] },
      )
    }
    await workers[0]?.publish(Ping({ text: "hi" }), topicId("news", "today"))
    await workers[0]?.whenIdle()
    expect(got.toSorted()).toEqual(["0 today hi", "1 today hi"])
  })
})
