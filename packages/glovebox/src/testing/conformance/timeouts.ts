import assert from "node:assert/strict"
import { stillWorks, within } from "../expectations.ts"
import { python } from "../programs.ts"
import type { Suite } from "../suite.ts"

/** Code that overruns its time. */
export function defineTimeouts({ it, itIf, subject, programs }: Suite): void {
  it("code that is deaf to signals ends at the deadline: 124, its output so far, no later block", async () => {
    await using executor = subject.create({ timeout: "1s" })
    const result = await within(
      executor.executeCodeBlocks([
        programs.print("first "),
        programs.wait("so far"),
        programs.print("never"),
      ]),
      20,
      "the timeout",
    )
    const { exitCode, termination, output, blocks } = result
    assert.deepEqual(
      { exitCode, termination, output, count: blocks.length, limits: blocks[1]?.limitsHit },
      { exitCode: 124, termination: "timeout", output: "first so far", count: 2, limits: ["wall"] },
    )
    assert.ok(blocks[1]!.durationMs >= 950, `${blocks[1]!.durationMs} ms`)
    assert.ok(blocks[1]!.durationMs < 6_000, `${blocks[1]!.durationMs} ms`)
    await stillWorks(executor, programs.print)
  })

  it("the time is each block's own", async () => {
    await using executor = subject.create({ timeout: "2s" })
    const nap =
      programs.language === "python"
        ? python("import time; time.sleep(1.1)")
        : { language: "sh", code: "sleep 1.1" }
    const { exitCode, blocks } = await executor.executeCodeBlocks([nap, nap])
    assert.deepEqual([exitCode, blocks.length], [0, 2])
  })

  itIf(
    programs.language === "python",
    "a busy loop, a flood and a lock all end at the deadline",
    async () => {
      await using executor = subject.create({ timeout: "1s", concurrency: 3 })
      const results = await Promise.all(
        [
          "while True: pass",
          `while True: print("flood" * 100)`,
          "import _thread\nlock = _thread.allocate_lock()\nlock.acquire()\nlock.acquire()",
        ].map(async (code) => within(executor.executeCodeBlocks([python(code)]), 30, code)),
      )
      for (const { exitCode, termination } of results) {
        if (termination === "output-limit") continue
        assert.deepEqual({ exitCode, termination }, { exitCode: 124, termination: "timeout" })
      }
      await stillWorks(executor, programs.print)
    },
  )
}
