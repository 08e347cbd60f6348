import { type SingleThreadedAgentRuntime, agentId, topicId, typeSubscription } from "glovebox/core"
import type { Batch } from "../measure-rates.ts"
import { EchoAgent, ask, checkAnswer } from "./echo-agent.ts"
import { BATCH, CONCURRENCY, SUBSCRIBERS, type Workload } from "./workload.ts"

/** The workloads through a runtime that has agents of type "echo". */
export async function runtimeBatches(runtime: SingleThreadedAgentRuntime): Promise<Record<Workload, Batch>> {
  const one = agentId("echo")
  const many = Array.from({ length: CONCURRENCY }, (_, index) => agentId("echo", String(index)))
  return {
    serial: async () => {
      for (let index = 0; index < BATCH; index += 1) checkAnswer(await runtime.send(ask, one))
      return BATCH
    },
    concurrent: async () => {
      for (const reply of await Promise.all(many.map((id) => runtime.send(ask, id)))) checkAnswer(reply)
      return CONCURRENCY
    },
    publish: await publishBatch(runtime),
  }
}

async function publishBatch(runtime: SingleThreadedAgentRuntime): Promise<Batch> {
  const agents: EchoAgent[] = []
  const build = (): EchoAgent => {
    const agent = new EchoAgent()
    agents.push(agent)
    return agent
  }
  for (let index = 0; index < SUBSCRIBERS; index += 1) {
    await runtime.register(`subscriber-${index}`, build, { subscriptions: [typeSubscription("bench")] })
  }
  const topic = topicId("bench")
  let published = 0
  return async () => {
    for (let index = 0; index < BATCH; index += 1) await runtime.publish(ask, topic)
    await runtime.whenIdle()
    published += BATCH
    if (agents.length !== SUBSCRIBERS || agents.some((agent) => agent.asked !== published)) {
      throw new Error("A subscriber has not received every message exactly once.")
    }
    return BATCH * SUBSCRIBERS
  }
}
