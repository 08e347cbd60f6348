import assert from "node:assert/strict"
import type { CodeBlock, CodeExecutor } from "../../executors/index.ts"
import { begin, rejectionOf, stillWorks, succeed, within } from "../expectations.ts"
import { python } from "../programs.ts"
import type { Suite } from "../suite.ts"

/** Calls that are no longer wanted, at every point of their way. */
export function defineAborts({ it, itIf, shared, subject, programs }: Suite): void {
  const reason = new Error("no longer wanted")

  it("before it begins: it rejects with the signal's reason, and nothing runs", async () => {
    const signal = AbortSignal.abort(reason)
    const call = shared().executeCodeBlocks([programs.write("aborted-before.txt", "x")], { signal })
    assert.equal(await rejectionOf(call), reason)
    assert.equal((await succeed(shared(), programs.show("aborted-before.txt"))).stdout, "absent")
  })

  it("while the executor starts: that call rejects, and another that waited too goes on", async () => {
    await using executor = subject.create()
    const controller = new AbortController()
    const aborted = executor.executeCodeBlocks([programs.print("a")], { signal: controller.signal })
    const other = executor.executeCodeBlocks([programs.print("b")])
    controller.abort(reason)
    assert.equal(await within(rejectionOf(aborted), 30, "the abort"), reason)
    assert.equal((await other).stdout, "b")
  })

  it("while it waits for its turn: it rejects at once, and what runs goes on", async () => {
    await using executor = subject.create({ concurrency: 1 })
    const running = new AbortController()
    const { result, spoke } = begin(executor, [programs.wait("busy")], { signal: running.signal })
    await spoke
    const queued = new AbortController()
    const waiting = executor.executeCodeBlocks([programs.print("x")], { signal: queued.signal })
    const next = executor.executeCodeBlocks([programs.print("next")])
    queued.abort(reason)
    assert.equal(await within(rejectionOf(waiting), 5, "the abort"), reason)
    running.abort(new Error("done with it"))
    assert.match(String(await rejectionOf(result)), /done with it/)
    assert.equal((await within(next, 30, "the next in line")).stdout, "next")
  })

  it("while code runs: it rejects with the reason, whatever that is, and the executor works on", async () => {
    for (const why of [reason, "a text", undefined]) {
      const controller = new AbortController()
      const { result, spoke } = begin(shared(), [programs.wait("on")], { signal: controller.signal })
      await spoke
      controller.abort(why)
      const rejection = await within(rejectionOf(result), 30, "the abort")
      assert.equal(rejection, controller.signal.reason)
    }
    await stillWorks(shared(), programs.print)
  })

  it("between two blocks: the second does not run", async () => {
    const controller = new AbortController()
    const loop = runUntil(shared(), "block-finished", controller, reason, [
      programs.print("x"),
      programs.wait("never ends"),
    ])
    assert.equal(await within(rejectionOf(loop), 30, "the abort"), reason)
    await stillWorks(shared(), programs.print)
  })

  itIf(
    programs.language === "python",
    "while files come back: it rejects, and the executor works on",
    async () => {
      const make = python(`for number in range(8):
    open(f"big-{number}", "wb").write(bytes([number]) * 4_000_000)`)
      const controller = new AbortController()
      const loop = runUntil(shared(), "block-finished", controller, reason, [make])
      assert.equal(await within(rejectionOf(loop), 30, "the abort"), reason)
      await stillWorks(shared(), programs.print)
      await succeed(shared(), python(`import glob, os\nfor path in glob.glob("big-*"):\n    os.remove(path)`))
    },
  )

  it("after its end: nothing happens", async () => {
    const controller = new AbortController()
    const { stdout } = await shared().executeCodeBlocks([programs.print("over")], {
      signal: controller.signal,
    })
    controller.abort(reason)
    assert.equal(stdout, "over")
    await stillWorks(shared(), programs.print)
  })
}

async function runUntil(
  executor: CodeExecutor,
  type: string,
  controller: AbortController,
  reason: Error,
  blocks: readonly CodeBlock[],
): Promise<void> {
  for await (const event of executor.stream(blocks, { signal: controller.signal })) {
    if (event.type === type) controller.abort(reason)
  }
}
