import { type AgentId, agentId, topicId } from "glovebox/core"
import { GrpcWorkerAgentRuntime } from "glovebox/runtimes/grpc"
import { shuffle } from "../../shuffle.ts"
import { CONTENT, IN_FLIGHT } from "../workload.ts"
import { answerLines } from "./answer-lines.ts"
import { Answer, ask, news } from "./messages.ts"
import { concurrentTurn, countedTurn, serialTurn } from "./turn.ts"

const [hostAddress = ""] = process.argv.slice(2)
const runtime = new GrpcWorkerAgentRuntime({ hostAddress })
await runtime.start()

const one = agentId("echo", "one")
const many = Array.from({ length: IN_FLIGHT }, (_, index) => agentId("echo", `many-${index}`))
const topic = topicId("bench")

await answerLines(hostAddress, {
  serial: async ({ turnMs = 0 }) => await serialTurn(() => call(one), turnMs),
  concurrent: async ({ turnMs = 0 }) =>
    await concurrentTurn(
      many.map((id) => () => call(id)),
      turnMs,
    ),
  publish: async ({ count = 0 }) =>
    await countedTurn(async () => await runtime.publish(news, topic), count, IN_FLIGHT),
  // Spread evenly over so many agents.
  visit: async ({ agents = 0, calls = 0, inFlight = 1 }) => {
    const ids = shuffle(Array.from({ length: agents }, (_, index) => agentId("crowd", String(index))))
    let next = 0
    const visit = async (): Promise<void> => await call(ids[next++ % ids.length] ?? one)
    return await countedTurn(visit, calls, inFlight)
  },
})
await runtime.close()

async function call(id: AgentId): Promise<void> {
  const reply = await runtime.send(ask, id, { expect: Answer })
  if (reply.content.length !== CONTENT.length) throw new Error("A request got another answer than its own.")
}
