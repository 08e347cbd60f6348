import assert from "node:assert/strict"
import { eventsOf, succeed } from "../expectations.ts"
import type { Suite } from "../suite.ts"

const CALLS = 12
// Two run at a time, and one may be slow: so far from its place a call may begin.
const OUT_OF_ORDER = 6

/** Calls at the same time. */
export function defineConcurrency({ it, subject, programs }: Suite): void {
  it("a dozen calls at once, two at a time: each gets its own output, and none waits unfairly", async () => {
    await using executor = subject.create({ concurrency: 2 })
    const begun: number[] = []
    const outputs = await Promise.all(
      Array.from({ length: CALLS }, async (_, index) => {
        let output = ""
        for await (const event of executor.stream([programs.print(`number ${index}`)])) {
          if (event.type === "started") begun.push(index)
          if (event.type === "finished") output = event.result.output
        }
        return output
      }),
    )
    assert.deepEqual(
      outputs,
      Array.from({ length: CALLS }, (_, index) => `number ${index}`),
    )
    assert.equal(begun.length, CALLS)
    for (const [place, index] of begun.entries()) {
      assert.ok(Math.abs(place - index) <= OUT_OF_ORDER, `call ${index} began as number ${place}`)
    }
  })

  it("the same code at the same time is run as often as it was asked for", async () => {
    await using executor = subject.create({ concurrency: 4 })
    const results = await Promise.all(
      Array.from({ length: 4 }, async () => succeed(executor, programs.print("same code"))),
    )
    assert.deepEqual(
      results.map(({ output }) => output),
      Array.from({ length: 4 }, () => "same code"),
    )
  })

  it("a call that fails does not touch the others", async () => {
    await using executor = subject.create({ concurrency: 3 })
    const [good, bad, refused] = await Promise.allSettled([
      executor.executeCodeBlocks([programs.print("good")]),
      executor.executeCodeBlocks([programs.exit(9)]),
      eventsOf(executor.stream([{ language: "klingon", code: "" }])),
    ])
    assert.equal(good.status === "fulfilled" && good.value.stdout, "good")
    assert.equal(bad.status === "fulfilled" && bad.value.exitCode, 9)
    assert.equal(refused.status, "rejected")
  })
}
