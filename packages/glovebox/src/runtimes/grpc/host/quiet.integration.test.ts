import { describe, expect, it } from "vitest"
import type { WireMessage } from "../wire/wire-message.ts"
import { RawWorker } from "./raw-worker.test-kit.ts"
import { startHost, until } from "./start-host.test-kit.ts"

const isQuestion = ({ notice }: WireMessage): boolean => Boolean(notice?.quiet_question)
const isAnswer = ({ notice }: WireMessage): boolean => Boolean(notice?.quiet_answer)

/** Answers each question of the host at once. */
function idle(worker: RawWorker, activity = () => 0): void {
  worker.onMessage = ({ notice }) => {
    const id = notice?.quiet_question?.id
    if (id !== undefined) worker.link.send({ notice: { quiet_answer: { id, activity: activity() } } })
  }
}

describe("the question whether all are idle", () => {
  it("is answered when every worker said so twice, and nothing happened in between", async () => {
    await using host = await startHost()
    using asker = await RawWorker.open(host.address)
    using busy = await RawWorker.open(host.address)
    idle(asker)
    let activity = 0
    // It did something between its first answers.
    idle(busy, () => (activity < 3 ? ++activity : activity))
    asker.link.send({ notice: { quiet_question: { id: 7 } } })
    expect((await asker.next(isAnswer)).notice?.quiet_answer?.id).toBe(7)
    expect(busy.received.filter(isQuestion).length).toBeGreaterThanOrEqual(4)
  })

  it("waits for a worker that is busy, for one that joins, and not for one that left", async () => {
    await using host = await startHost()
    using asker = await RawWorker.open(host.address)
    using busy = await RawWorker.open(host.address)
    idle(asker)
    asker.link.send({ notice: { quiet_question: { id: 1 } } })
    const asked = await busy.next(isQuestion)
    using joined = await RawWorker.open(host.address)
    await joined.next(isQuestion)
    idle(joined)
    joined.link.send({ notice: { leave: "bye" } })
    await until(() => host.status().workers.length === 2)
    expect(asker.received.filter(isAnswer)).toEqual([])
    idle(busy)
    busy.link.send({ notice: { quiet_answer: { id: asked.notice?.quiet_question?.id ?? 0, activity: 0 } } })
    expect((await asker.next(isAnswer)).notice?.quiet_answer?.id).toBe(1)
  })

  it("waits for requests at workers that cannot be asked", async () => {
    await using host = await startHost()
    using plain = await RawWorker.open(host.address, { isLink: false })
    await plain.register("slow")
    using asker = await RawWorker.open(host.address)
    idle(asker)
    const id = asker.post("slow/1")
    const { request_id } = await plain.request()
    asker.link.send({ notice: { quiet_question: { id: 1 } } })
    await asker.next(isQuestion)
    await asker.next(isQuestion)
    expect(asker.received.filter(isAnswer)).toEqual([])
    plain.link.send({ response: { request_id, error: "done" } })
    await asker.answerTo(id)
    await asker.next(isAnswer)
  })
})
