import { SingleThreadedAgentRuntime, agentId, topicId, typeSubscription } from "glovebox/core"
import { measureRates } from "../measure-rates.ts"
import { EchoAgent, answer, ask, echoHandler } from "./echo-agent.ts"
import { PromiseMailbox } from "./promise-mailbox.ts"
import { startEchoRuntime } from "./start-echo-runtime.ts"

export interface Throughput {
  readonly ours: number
  readonly baseline: number
}

const BATCH = 1_000
export const CONCURRENCY = 100
export const SUBSCRIBERS = 4

/** Requests a second, each sent when the one before is answered. */
export async function measureSerial(): Promise<Throughput> {
  await using runtime = await startEchoRuntime()
  const id = agentId("echo")
  const mailbox = new PromiseMailbox(echoHandler())
  return await measureRates(
    async () => {
      for (let index = 0; index < BATCH; index += 1) checkAnswer(await runtime.send(ask, id))
      return BATCH
    },
    async () => {
      for (let index = 0; index < BATCH; index += 1) checkAnswer(await mailbox.call(ask))
      return BATCH
    },
  )
}

/** Requests a second with as many under way at once, each to an agent of its own. */
export async function measureConcurrent(): Promise<Throughput> {
  await using runtime = await startEchoRuntime()
  const keys = Array.from({ length: CONCURRENCY }, (_, index) => String(index))
  const ids = keys.map((key) => agentId("echo", key))
  const mailboxes = keys.map(() => new PromiseMailbox(echoHandler()))
  return await measureRates(
    async () => {
      for (const reply of await Promise.all(ids.map((id) => runtime.send(ask, id)))) checkAnswer(reply)
      return CONCURRENCY
    },
    async () => {
      for (const reply of await Promise.all(mailboxes.map((mailbox) => mailbox.call(ask)))) checkAnswer(reply)
      return CONCURRENCY
    },
  )
}

/** Deliveries a second of messages that each go to all subscribers. */
export async function measurePublish(): Promise<Throughput> {
  const agents: EchoAgent[] = []
  await using runtime = new SingleThreadedAgentRuntime()
  for (let index = 0; index < SUBSCRIBERS; index += 1) {
    const factory = (): EchoAgent => {
      const agent = new EchoAgent()
      agents.push(agent)
      return agent
    }
    await runtime.register(`subscriber-${index}`, factory, { subscriptions: [typeSubscription("bench")] })
  }
  runtime.start()
  const topic = topicId("bench")
  const mailboxes = Array.from({ length: SUBSCRIBERS }, () => new PromiseMailbox(echoHandler()))
  let published = 0
  return await measureRates(
    async () => {
      for (let index = 0; index < BATCH; index += 1) await runtime.publish(ask, topic)
      await runtime.whenIdle()
      published += BATCH
      if (agents.length !== SUBSCRIBERS || agents.some((agent) => agent.asked !== published)) {
        throw new Error("A subscriber has not received every message exactly once.")
      }
      return BATCH * SUBSCRIBERS
    },
    async () => {
      for (let index = 0; index < BATCH; index += 1) {
        await Promise.all(mailboxes.map((mailbox) => mailbox.call(ask)))
      }
      return BATCH * SUBSCRIBERS
    },
  )
}

function checkAnswer(reply: unknown): void {
  if (reply !== answer) throw new Error("A request got another answer than its own.")
}
