import { typeSubscription } from "glovebox/core"
import { GrpcWorkerAgentRuntime } from "glovebox/runtimes/grpc"
import { answerLines } from "./answer-lines.ts"
import { Arrivals } from "./arrivals.ts"
import { EchoAgent, Subscriber } from "./messages.ts"

// Where the host is, how many workers share the agents of the crowd, and how many others subscribe.
const [hostAddress = "", workers = "1", subscribers = "0"] = process.argv.slice(2)

const arrivals = new Arrivals()
const runtimes: GrpcWorkerAgentRuntime[] = []
for (let index = 0; index < Number(workers); index += 1) {
  const runtime = await connect()
  await runtime.register("crowd", () => new EchoAgent())
  // However many workers there are, these agents are at as few.
  if (index === 0) await runtime.register("echo", () => new EchoAgent())
}
for (let index = 0; index < Number(subscribers); index += 1) {
  const runtime = await connect()
  await runtime.register(`subscriber-${index}`, () => new Subscriber(() => arrivals.add()), {
    subscriptions: [typeSubscription("bench")],
  })
}
await answerLines(hostAddress, {
  received: async ({ count = 0 }) => {
    await arrivals.reach(count)
    return {}
  },
})
for (const runtime of runtimes) await runtime.close()

async function connect(): Promise<GrpcWorkerAgentRuntime> {
  const runtime = new GrpcWorkerAgentRuntime({ hostAddress })
  runtimes.push(runtime)
  await runtime.start()
  return runtime
}
