import type { Batch } from "../measure-rates.ts"
import { ask, checkAnswer, echoHandler } from "./echo-agent.ts"
import { PromiseMailbox } from "./promise-mailbox.ts"
import { BATCH, CONCURRENCY, SUBSCRIBERS, type Workload } from "./workload.ts"

/** The workloads through bare mailboxes, without a runtime. */
export function baselineBatches(): Record<Workload, Batch> {
  const mailbox = new PromiseMailbox(echoHandler())
  const many = Array.from({ length: CONCURRENCY }, () => new PromiseMailbox(echoHandler()))
  const subscribers = Array.from({ length: SUBSCRIBERS }, () => new PromiseMailbox(echoHandler()))
  return {
    serial: async () => {
      for (let index = 0; index < BATCH; index += 1) checkAnswer(await mailbox.call(ask))
      return BATCH
    },
    concurrent: async () => {
      for (const reply of await Promise.all(many.map((one) => one.call(ask)))) checkAnswer(reply)
      return CONCURRENCY
    },
    publish: async () => {
      for (let index = 0; index < BATCH; index += 1) {
        await Promise.all(subscribers.map((subscriber) => subscriber.call(ask)))
      }
      return BATCH * SUBSCRIBERS
    },
  }
}
